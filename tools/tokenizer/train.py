"""Trains small vocabularies of each kind on texts of corpus.py, for tests: FOLDER gets KIND.gguf and KIND.txt.

    train.py FOLDER

Also bpe-NAME.gguf for each row of pre_tokenizer_table.cc: the same byte-pair vocabulary with that pre-tokenizer.
Its merges cross the borders of words, so that a border in the wrong place shows. Needs the packages gguf,
sentencepiece and tokenizers.
"""

import io
import json
import os
import re
import sys

import sentencepiece
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

import corpus
import vocabularies

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../frontend/tokenizer/pre_tokenizer_table.cc")
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def texts():
    return [data.decode() for data in corpus.make(4000, seed=7)]


def byte_pair():
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(r"[\s\S]{1,9}"), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    trainer = trainers.BpeTrainer(vocab_size=1300, special_tokens=SPECIALS,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    # Lower case too: contractions and words are rare otherwise.
    tokenizer.train_from_iterator([t for text in texts() for t in (text, "12345678 don't they'LL 1,000,000\n\n  x\t\ty ..., ")], trainer)
    data = json.loads(tokenizer.to_str())["model"]
    tokens = [token for token, _ in sorted(data["vocab"].items(), key=lambda item: item[1])]
    return {"model": "gpt2", "pre": "smollm", "tokens": tokens,
            "token_types": [vocabularies.CONTROL if t in SPECIALS else vocabularies.NORMAL for t in tokens],
            "merges": [m if isinstance(m, str) else " ".join(m) for m in data["merges"]], "bos_id": 1, "eos_id": 2}


def sentence_piece():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(t.replace("\n", " ") for t in corpus.SENTENCES + corpus.CODE), model_writer=model, model_type="bpe", vocab_size=1500,
        byte_fallback=True, character_coverage=0.98, add_dummy_prefix=True, remove_extra_whitespaces=False,
        normalization_rule_name="identity", minloglevel=2, user_defined_symbols=["<|user|>", "<|end|>", "<|endoftext|>"])
    path = os.path.join(sys.argv[1], "trained.model")
    with open(path, "wb") as out:
        out.write(model.getvalue())
    data = vocabularies.from_sentencepiece("", path)
    os.remove(path)
    data["token_types"] = [vocabularies.USER_DEFINED if t in ("<|user|>", "<|end|>", "<|endoftext|>") else kind
                           for t, kind in zip(data["tokens"], data["token_types"])]
    return data


def word_piece():
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(texts(), trainers.WordPieceTrainer(vocab_size=900, limit_alphabet=300, special_tokens=specials))
    path = os.path.join(sys.argv[1], "vocab.txt")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(t for t, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])) + "\n")
    data = vocabularies.from_wordpiece("", path)
    os.remove(path)
    return data


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    # Training breaks ties by chance: variants are of one vocabulary.
    bpe, spm, wpm = byte_pair(), sentence_piece(), word_piece()
    made = {"bpe": bpe, "spm": spm, "spm-no-prefix": {**spm, "add_space_prefix": False, "add_eos": True},
            "spm-phi3": {**spm, "name": "Phi-3"}, "wpm": wpm, "wpm-cased": {**wpm, "lowercase": False}}
    for name, data in made.items():
        vocabularies.write_text(data, os.path.join(folder, name + ".txt"))
        vocabularies.write_gguf(data, os.path.join(folder, name + ".gguf"))
    with open(TABLE) as table:
        for name in re.findall(r'^    \{"([^"]+)", k', table.read(), re.MULTILINE):
            vocabularies.write_text({**bpe, "pre": name}, os.path.join(folder, "bpe-%s.txt" % name))
            vocabularies.write_gguf({**bpe, "pre": name}, os.path.join(folder, "bpe-%s.gguf" % name))


if __name__ == "__main__":
    main()
