"""Mistakes in text models: bytes of a GGUF file, written without a library."""

import struct

from case import Case

F32, Q4_0 = 0, 2
U32, FLOAT, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def u32(*numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


def u64(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def value(key, kind, data):
    return text(key) + u32(kind) + data


def tensor(name, shape, offset, kind=F32):
    return text(name) + u32(len(shape)) + u64(*reversed(shape)) + u32(kind) + u64(offset)


def file(values, tensors=(), size=0, version=3):
    head = b"GGUF" + u32(version) + u64(len(tensors), len(values)) + b"".join(values) + b"".join(tensors)
    return head + bytes(-len(head) % 32 + size)


KEYS = {"block_count": 1, "context_length": 16, "embedding_length": 8, "feed_forward_length": 8,
        "attention.head_count": 2, "attention.head_count_kv": 1}
SHAPES = {"token_embd": (4, 8), "output_norm": (8,), "blk.0.attn_norm": (8,), "blk.0.attn_q": (8, 8),
          "blk.0.attn_k": (4, 8), "blk.0.attn_v": (4, 8), "blk.0.attn_output": (8, 8),
          "blk.0.ffn_norm": (8,), "blk.0.ffn_gate": (8, 8), "blk.0.ffn_up": (8, 8), "blk.0.ffn_down": (8, 8)}


def model(keys=(), shapes=(), architecture="llama", values=(), without=()):
    """A llama of one layer, but for what differs; without keys and tensors of these names."""
    given = [value("general.architecture", STRING, text(architecture))]
    numbers = {**KEYS, **dict(keys)}
    given += [value("llama." + key, U32, u32(n)) for key, n in numbers.items() if key not in without]
    given.append(value("llama.attention.layer_norm_rms_epsilon", FLOAT, struct.pack("<f", 1e-5)))
    tensors = [tensor(name + ".weight", shape, 256 * i)
               for i, (name, shape) in enumerate({**SHAPES, **dict(shapes)}.items()) if name not in without]
    return file(given + list(values), tensors, 256 * (len(SHAPES) + 1))


def _cases():
    def case(what, data, error):
        return Case("A text model", what, "tg-opt m.gguf", "error: m.gguf: " + error, files={"m.gguf": data})

    def one(what, values, tensors, error):
        return case(what, file(values, tensors, 64), error)

    huge = u64(1 << 60)
    whole = model()
    yield case("torn in the header", whole[:10], "the file ends at byte 10, in the number of tensors")
    yield case("torn in a key", whole[:60],
               "the number of tensors is 11 at byte 8, but the file has only 44 bytes more")
    yield case("torn in the weights", whole[:-1200],
               "tensor 'blk.0.ffn_gate.weight' takes 256 bytes at 2048 behind byte 1024, beyond the file's 2896 bytes")
    yield case("an old version", file([], version=1), "the file is of GGUF version 1; tg reads versions 2 and 3")
    yield case("big-endian", file([], version=3 << 24),
               "the file is big-endian; tg reads little-endian GGUF files")
    yield case("2^60 tensors", b"GGUF" + u32(3) + huge + u64(0),
               "the number of tensors is 1152921504606846976 at byte 8, but the file has only 8 bytes more")
    yield case("2^60 keys", b"GGUF" + u32(3) + u64(0) + huge,
               "the number of metadata values is 1152921504606846976 at byte 16, but the file has only 0 bytes more")
    yield one("a key of 2^60 bytes", [huge], [],
              "the length of the key of metadata value 0 is 1152921504606846976 at byte 24, but the file has only 64 bytes more")
    yield one("a type of value that is none", [value("k", 13, b"")], [],
              "the type of key 'k' is 13 at byte 33, which is no type")
    yield one("a bool of 2", [value("k", BOOL, b"\2")], [], "the value of key 'k' is 2, which is no bool")
    yield one("a list of lists", [value("k", ARRAY, u32(ARRAY) + u64(0))], [],
              "the value of key 'k' is an array of arrays")
    yield one("a list of 2^60 texts", [value("k", ARRAY, u32(STRING) + huge)], [],
              "the number of elements of key 'k' is 1152921504606846976 at byte 41, but the file has only 79 bytes more")
    yield one("a key twice", [value("k", U32, u32(1))] * 2, [], "key 'k' is there twice")
    yield one("an odd alignment", [value("general.alignment", U32, u32(24))], [],
              "key 'general.alignment' is no power of two up to 2^30")
    yield one("a tensor twice", [], [tensor("t", (4,), 0)] * 2, "tensor 't' is there twice")
    yield one("five axes", [], [tensor("t", (1, 1, 1, 1, 1), 0)], "tensor 't' has 5 axes")
    yield one("an empty tensor", [], [tensor("t", (0,), 0)], "tensor 't' has an extent of 0")
    yield one("a tensor of 2^60 elements", [], [tensor("t", (1 << 30, 1 << 30), 0)],
              "tensor 't' has an extent of 1073741824")
    yield one("a type of tensor that is not read", [], [tensor("t", (32,), 0, 4)],
              "tensor 't' is of type number 4, which tg does not read; it reads F32 F16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 "
              "Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS BF16 MXFP4")
    yield one("a row of a part of a block", [], [tensor("t", (33,), 0, Q4_0)],
              "tensor 't' has rows of 33 elements, but blocks of Q4_0 have 32")
    yield one("a tensor that is not aligned", [], [tensor("t", (4,), 8)],
              "tensor 't' begins at 8, which is no multiple of 32")
    yield one("a tensor far behind the file", [], [tensor("t", (4,), 1 << 60)],
              "tensor 't' takes 16 bytes at 1152921504606846976 behind byte 64, beyond the file's 128 bytes")
    yield case("no architecture", file([]), "the file lacks the key 'general.architecture'")
    yield case("an architecture that is not read", model(architecture="mamba"),
               "the architecture 'mamba' is not read; tg reads llama qwen2 qwen3 qwen3moe gemma2 gemma3 phi3")
    yield case("missing keys", model(without=("block_count", "context_length")),
               "architecture 'llama': the file lacks the keys 'llama.block_count', 'llama.context_length'")
    yield case("a key of another type", model(without=("block_count",), values=[value("llama.block_count", STRING, text("1"))]),
               "architecture 'llama': the file lacks the keys 'llama.block_count'")
    yield case("no layer", model({"block_count": 0}), "architecture 'llama': 'llama.block_count' is 0")
    yield case("heads that keys cannot be shared by", model({"attention.head_count": 4, "attention.head_count_kv": 3}),
               "architecture 'llama': 4 heads are no multiple of 3 heads of keys")
    yield case("an odd rotation", model({"rope.dimension_count": 3}),
               "architecture 'llama': 'llama.rope.dimension_count' is not even, or above the size of a head")
    yield case("a scaling that is not known", model(values=[value("llama.rope.scaling.type", STRING, text("dynamic"))]),
               "architecture 'llama': 'llama.rope.scaling.type' is 'dynamic'")
    yield case("missing tensors", model(without=("output_norm", "blk.0.ffn_up")),
               "the file lacks the tensors 'blk.0.ffn_up.weight' 'output_norm.weight'")
    yield case("a tensor of another shape", model(shapes={"blk.0.attn_k": (8, 8)}),
               "tensor 'blk.0.attn_k.weight' is [8, 8], not [4, 8]")
    yield case("a tensor too many", model(shapes={"blk.0.attn_sinks": (8,)}),
               "the architecture has no use for the tensors 'blk.0.attn_sinks.weight'")
    yield case("the second of several files", model(values=[value("split.no", U32, u32(1)), value("split.count", U32, u32(2))]),
               "this is file 1 (from 0) of a model in 2 files; the first one is read")
    yield case("a first file under another name", model(values=[value("split.no", U32, u32(0)), value("split.count", U32, u32(2))]),
               "the model is in 2 files, but the name of the first does not end with -00001-of-00002.gguf")


GGUF_CASES = list(_cases())
