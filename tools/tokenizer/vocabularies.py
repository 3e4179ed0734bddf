"""Writes vocabularies as GGUF files, for llama.cpp, and as text, for tg.

    vocabularies.py FOLDER FILE...

FILE is a GGUF file, or NAME=PATH of a file that a package carries: one of tiktoken's format, tokenizers' .json,
SentencePiece's .model, a tekken*.json or a vocab.txt of WordPiece. FOLDER gets NAME.gguf and NAME.txt. For byte-pair
vocabularies NAME is the pre-tokenizer, or ends with it after a colon: "qwen2=qwen.tiktoken", "mine:qwen2=qwen.tiktoken".
Needs the packages gguf and sentencepiece.
"""

import base64
import json
import os
import sys

import gguf

from corpus import quote

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
MARK = "\u2581"


def byte_alphabet():
    printable = [b for b in range(256) if 0x21 <= b <= 0x7E or 0xA1 <= b <= 0xAC or 0xAE <= b]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(0x100 + i) for i, b in enumerate(others)}}


ALPHABET = byte_alphabet()


def spell(data):
    return "".join(ALPHABET[b] for b in data)


def merges_of(ranks):
    """The merges that make each token of a list of tokens in the order of their ranks."""
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) == 1:
            continue
        parts = [bytes([b]) for b in token]
        while len(parts) > 2:
            best = min(range(len(parts) - 1), key=lambda i: ranks.get(parts[i] + parts[i + 1], 1 << 60))
            if ranks.get(parts[best] + parts[best + 1], 1 << 60) >= rank:
                break
            parts[best:best + 2] = [parts[best] + parts[best + 1]]
        if len(parts) == 2:
            merges.append("%s %s" % (spell(parts[0]), spell(parts[1])))
    return merges


def from_ranks(pre, ranks, specials):
    tokens = [spell(t) for t, _ in sorted(ranks.items(), key=lambda item: item[1])]
    types = [NORMAL] * len(tokens)
    return {"model": "gpt2", "pre": pre, "tokens": tokens + specials, "merges": merges_of(ranks),
            "token_types": types + [CONTROL] * len(specials)}


def from_tiktoken(pre, path):
    ranks = {}
    with open(path, "rb") as lines:
        for line in lines:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    if pre == "qwen2":
        specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        bos, eos = 0, 2
    else:
        specials = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>"]
        bos, eos = 0, 1
    data = from_ranks(pre, ranks, specials)
    return {**data, "bos_id": len(ranks) + bos, "eos_id": len(ranks) + eos}


def from_tekken(pre, path):
    with open(path) as source:
        data = json.load(source)
    specials = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"]
    count = data["config"]["default_vocab_size"] - data["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(t["token_bytes"]): t["rank"] for t in data["vocab"][:count]}
    made = from_ranks(pre, ranks, [])
    return {**made, "tokens": specials + made["tokens"], "token_types": [CONTROL] * len(specials) + made["token_types"],
            "bos_id": 1, "eos_id": 2, "unknown_id": 0}


def from_tokenizer_json(pre, path):
    with open(path) as source:
        data = json.load(source)
    tokens = dict(data["model"]["vocab"])
    types = {}
    for added in data["added_tokens"]:
        tokens[added["content"]] = added["id"]
        types[added["id"]] = CONTROL if added["special"] else USER_DEFINED
    by_id = {number: token for token, number in tokens.items()}
    count = max(by_id) + 1
    return {"model": "gpt2", "pre": pre, "tokens": [by_id.get(i, "[PAD%d]" % i) for i in range(count)],
            "token_types": [types.get(i, NORMAL if i in by_id else UNUSED) for i in range(count)],
            "merges": [m if isinstance(m, str) else " ".join(m) for m in data["model"]["merges"]],
            "bos_id": 0, "eos_id": 1}


def from_sentencepiece(_, path):
    import sentencepiece
    model = sentencepiece.SentencePieceProcessor(model_file=path)
    kinds = [(model.is_unknown, UNKNOWN), (model.is_control, CONTROL), (model.is_unused, UNUSED), (model.is_byte, BYTE)]
    ids = range(model.get_piece_size())
    return {"model": "llama", "pre": "default", "tokens": [model.id_to_piece(i) for i in ids], "scores": [model.get_score(i) for i in ids],
            "token_types": [next((kind for test, kind in kinds if test(i)), NORMAL) for i in ids],
            "bos_id": model.bos_id(), "eos_id": model.eos_id(), "unknown_id": model.unk_id()}


def from_wordpiece(_, path):
    with open(path, encoding="utf-8") as lines:
        words = lines.read().rstrip("\n").split("\n")
    special = [w.startswith("[") and w.endswith("]") for w in words]
    return {"model": "bert", "pre": "default",
            "tokens": [w if s else w[2:] if w.startswith("##") else MARK + w for w, s in zip(words, special)],
            "token_types": [UNKNOWN if w == "[UNK]" else CONTROL if s else NORMAL for w, s in zip(words, special)],
            "bos_id": words.index("[CLS]"), "eos_id": words.index("[SEP]"), "unknown_id": words.index("[UNK]"),
            "separator_id": words.index("[SEP]"), "mask_id": words.index("[MASK]"), "padding_id": words.index("[PAD]")}


KEYS = {"bos_id": "bos_token_id", "eos_id": "eos_token_id", "eot_id": "eot_token_id", "eom_id": "eom_token_id",
        "unknown_id": "unknown_token_id", "separator_id": "seperator_token_id", "padding_id": "padding_token_id",
        "mask_id": "mask_token_id"}
FLAGS = {"add_bos": "add_bos_token", "add_eos": "add_eos_token", "add_separator": "add_sep_token", "add_space_prefix": "add_space_prefix",
         "lowercase": "normalizer.lowercase", "strip_accents": "normalizer.strip_accents"}


def from_gguf(path):
    reader = gguf.GGUFReader(path)

    def value(key):
        field = reader.fields.get(key)
        return None if field is None else field.contents()

    data = {"architecture": value("general.architecture"), "name": value("general.name"),
            "model": value("tokenizer.ggml.model"), "pre": value("tokenizer.ggml.pre"), "tokens": value("tokenizer.ggml.tokens"),
            "scores": value("tokenizer.ggml.scores"), "token_types": value("tokenizer.ggml.token_type"),
            "merges": value("tokenizer.ggml.merges")}
    data.update({field: value("tokenizer.ggml." + key) for field, key in {**KEYS, **FLAGS}.items()})
    return {field: v for field, v in data.items() if v is not None}


def write_gguf(data, path):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(data.get("name", "vocabulary"))
    writer.add_context_length(64)
    writer.add_embedding_length(64)
    writer.add_block_count(1)
    writer.add_feed_forward_length(64)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model(data["model"])
    writer.add_tokenizer_pre(data["pre"])
    writer.add_token_list(data["tokens"])
    writer.add_token_scores(data.get("scores") or [0.0] * len(data["tokens"]))
    writer.add_token_types(data["token_types"])
    if "merges" in data:
        writer.add_token_merges(data["merges"])
    for field, key in KEYS.items():
        if field in data and data[field] >= 0:
            writer.add_uint32("tokenizer.ggml." + key, data[field])
    for field, key in FLAGS.items():
        if field in data:
            writer.add_bool("tokenizer.ggml." + key, bool(data[field]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_text(data, path):
    lines = ["%s %s" % (field, data[field]) for field in ("architecture", "name", "model", "pre") if data.get(field)]
    lines += ["%s %d" % (field, data[field]) for field in {**KEYS, **FLAGS} if field in data and int(data[field]) >= 0]
    scores = data.get("scores") or [0.0] * len(data["tokens"])
    for token, score, kind in zip(data["tokens"], scores, data["token_types"]):
        lines.append("token %d %s %s" % (kind, "%.9g" % score, quote(token.encode())))
    lines += ["merge " + quote(merge.encode()) for merge in data.get("merges", [])]
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def read(name, path):
    if path.endswith(".gguf"):
        return from_gguf(path)
    if os.path.basename(path).startswith("tekken"):
        return from_tekken(name, path)
    if path.endswith("vocab.txt"):
        return from_wordpiece(name, path)
    if path.endswith(".json"):
        return from_tokenizer_json(name, path)
    with open(path, "rb") as source:
        is_text = len(source.readline().split()) == 2
    return from_tiktoken(name, path) if is_text else from_sentencepiece(name, path)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for argument in sys.argv[2:]:
        name, _, path = argument.rpartition("=")
        name = name or os.path.splitext(os.path.basename(path))[0]
        data = read(name.split(":")[-1], path)
        file_name = name.split(":")[0]
        write_text(data, os.path.join(folder, file_name + ".txt"))
        write_gguf(data, os.path.join(folder, file_name + ".gguf"))
        print("%s: %d tokens, %d merges" % (file_name, len(data["tokens"]), len(data.get("merges", []))))


if __name__ == "__main__":
    main()
