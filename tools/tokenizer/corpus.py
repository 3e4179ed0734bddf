"""Writes texts that tokenizers disagree about: many scripts, emoji, code, white space, control characters,
any code points and any bytes.

    corpus.py --count=10000 --seed=1 > texts.txt

One quoted text on each line, as frontend/tokenizer/testing/vocabulary_text.h describes. Without --bytes every
text is UTF-8.
"""

import argparse
import random
import sys

SENTENCES = [
    "All human beings are born free and equal in dignity and rights. They're endowed with reason, aren't they?",
    "The quick brown fox jumps over the lazy dog; I'LL see what WE'VE got, he said, it's Tom's and you'd know.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. Fußgängerübergänge, 42 Stück!",
    "Voix ambiguë d'un cœur qui au zéphyr préfère les jattes de kiwis, n'est-ce pas ? L'été où j'étais là.",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío; ¿añoraba a su querido cachorro?",
    "Pijamalı hasta yağız şoföre çabucak güvendi. İstanbul'da ılık bir gün, IŞIK ışık.",
    "Tiếng Việt có nhiều dấu thanh: sắc, huyền, hỏi, ngã, nặng. Đường phố Hà Nội đông đúc.",
    "Все люди рождаются свободными и равными в своём достоинстве и правах. Съешь ещё этих мягких булок, да выпей чаю.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία.",
    "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. نصٌّ حكيمٌ لهُ سرٌّ قاطِعٌ، وذو شأنٍ عظيم؟ ١٢٣٤٥",
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. שָׁלוֹם עולם!",
    "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। क्षत्रिय १२३४",
    "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে। ১২৩ টাকা",
    "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும் உரிமைகளிலும் சமமானவர்கள்.",
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ๑๒๓ เป็นมนุษย์สุดประเสริฐ",
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。二〇二四年",
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。カタカナ、ﾊﾝｶｸ、ー々",
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. ㄱㄴㄷ 키스의 고유조건",
    "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "Բոլոր մարդիկ ծնվում են ազատ ու հավասար՝ իրենց արժանապատվությամբ ու իրավունքներով։",
    "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።",
    "မြန်မာဘာသာ လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့်",
]
CODE = [
    "def fib(n: int) -> int:\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n",
    "for (int i = 0; i < 1024; ++i) {\n\t\tsum += x[i] * y[i];  // dot product\r\n\t}",
    '{"name": "tg", "version": [1, 2.50, -3e-7], "ok": true, "none": null}',
    "<div class=\"a-b\" id='x'>&nbsp;<br/></div><!-- end -->",
    "SELECT COUNT(*) FROM users WHERE name LIKE '%O''Brien%' AND id >= 1000000;",
    "#include <vector>\n#define MAX(a,b) ((a)>(b)?(a):(b))\nstd::vector<uint8_t> v{0xFF, 0b1010, 077};",
    "git commit -am \"fix: don't\" && ./run.sh --n=10 | tee out.txt 2>&1",
    "https://example.org/path/to?q=a%20b&lang=en#frag user@example.com C:\\Windows\\System32",
    "fn main() -> Result<(), Box<dyn Error>> { println!(\"{:?}\", vec![1u32; 3]); Ok(()) }",
    "HelloWorld XMLHttpRequest snake_case_name kebab-case camelCaseString CONST_NAME x1y2z3 iPhone15Pro",
    "    if x is None:\n        raise ValueError(f'bad {x!r}')\n\n\n    else:\n        pass\n",
    "\\begin{equation} \\sum_{i=0}^{n} x_i^2 = \\frac{1}{2} \\end{equation} $E=mc^2$",
]
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷🇯🇵", "❤️", "☕", "1️⃣", "🧑🏿‍🚀", "✨", "™", "©", "→", "∑", "≠", "𝔘𝔫𝔦𝔠", "①", "Ⅷ", "½", "²"]
SPACES = [" ", "  ", "   ", "    ", "\t", "\n", "\r\n", "\r", "\n\n", "\n\n\n", " \n", "\u00a0", "\u3000", "\u2003", "\u200b",
          "\u2028", "\u0085", "\u1680", "\u180e", "\u202f", "\u205f", "\ufeff", "\v", "\f", "\x1c", "\x1f"]
CONTROLS = [chr(c) for c in list(range(0, 32)) + list(range(127, 160))] + ["\u200d", "\u200e", "\u202e", "\ufffd", "\ufffe", "\ue000"]
SPECIALS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<s>", "</s>", "<unk>", "<|eot_id|>", "<|start_header_id|>", "<bos>",
            "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<|user|>", "<|end|>", "<|", "|>", "<", ">", "[CLS]", "[SEP]", "[UNK]",
            "[MASK]", "##ing", "▁", "Ġ", "<0x41>", "<0x0A>", "<｜User｜>", "<unused1>"]
CONTRACTIONS = ["'s", "'S", "'t", "'re", "'RE", "'Re", "'ve", "'vE", "'m", "'ll", "'LL", "'d", "'D", "'x", "''s", "’s", "'ſ", "'ł"]


def any_code_point(rng):
    while True:
        limit = rng.choice([0x80, 0x100, 0x800, 0x3000, 0x10000, 0x20000, 0x110000])
        code = rng.randrange(limit)
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def words(rng):
    text = rng.choice(SENTENCES).split(" ")
    start = rng.randrange(len(text))
    return " ".join(text[start:start + rng.randint(1, 12)])


def number(rng):
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 12)))
    return rng.choice(["%s", "%s.5", "-%s", "$%s", "%s%%", "1,%s", " %s", "%s٣٤", "x%s", "%se-5", "（%s）", "%s½"]) % digits


def mixed_case(rng):
    return "".join(rng.choice("abcXYZéÉßøØжЖ1_-'") for _ in range(rng.randint(1, 15)))


PARTS = [words, words, words, number, mixed_case,
         lambda rng: rng.choice(CODE), lambda rng: rng.choice(EMOJI) * rng.randint(1, 3),
         lambda rng: "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 5))),
         lambda rng: " " * rng.randint(1, 40), lambda rng: rng.choice(CONTROLS),
         lambda rng: rng.choice(SPECIALS), lambda rng: "n" + rng.choice(CONTRACTIONS) + rng.choice(["", "a", " "]),
         lambda rng: "".join(rng.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") for _ in range(rng.randint(1, 6))),
         lambda rng: rng.choice("aeiou") + "".join(chr(rng.randrange(0x300, 0x370)) for _ in range(rng.randint(1, 3)))]


def text(rng):
    kind = rng.random()
    if kind < 0.12:
        return rng.choice(SENTENCES)
    if kind < 0.20:
        return "".join(any_code_point(rng) for _ in range(rng.randint(1, 30)))
    if kind < 0.25:
        raw = bytes(rng.randrange(256) for _ in range(rng.randint(1, 40)))
        return raw.decode(rng.choice(["latin-1", "utf-8"]), errors="replace")
    if kind < 0.30:
        return "".join(rng.choice(SPACES + ["a", "1", ".", "é"]) for _ in range(rng.randint(1, 30)))
    return "".join(rng.choice(PARTS)(rng) + rng.choice(["", " "]) for _ in range(rng.randint(1, 8)))


def quote(data):
    """`data` (bytes) as a quoted string."""
    out = []
    for char in data.decode("utf-8", errors="surrogateescape"):
        code = ord(char)
        if 0xDC80 <= code <= 0xDCFF:
            out.append("\\x%02X" % (code - 0xDC00))
        elif char in "\\\"":
            out.append("\\" + char)
        elif char in "\n\r\t":
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char])
        elif char.isprintable():
            out.append(char)
        else:
            out += ["\\x%02X" % byte for byte in char.encode()]
    return '"%s"' % "".join(out)


def make(count, seed, with_bytes=False):
    """`count` texts as bytes."""
    rng = random.Random(seed)
    texts = []
    for _ in range(count):
        if with_bytes:
            texts.append(bytes(rng.randrange(256) for _ in range(rng.randint(1, 60))) + text(rng).encode())
        else:
            texts.append(text(rng).encode())
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes", action="store_true", help="random bytes before each text")
    arguments = parser.parse_args()
    for data in make(arguments.count, arguments.seed, arguments.bytes):
        sys.stdout.write(quote(data) + "\n")


if __name__ == "__main__":
    main()
