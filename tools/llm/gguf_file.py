"""Writes GGUF files, with the standard library alone."""

import struct

ALIGNMENT = 32
# Name: number in the file, elements of a block, bytes of a block.
TYPES = {
    "F32": (0, 1, 4), "F16": (1, 1, 2), "BF16": (30, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20),
    "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q2_K": (10, 256, 84),
    "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210),
    "IQ4_NL": (20, 32, 18), "IQ4_XS": (23, 256, 136), "MXFP4": (39, 32, 17),
}
# Places of the float16 numbers in a block.
HALVES = {
    "F16": (0,), "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,),
    "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,),
    "IQ4_NL": (0,), "IQ4_XS": (0,),
}


def _text(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def _value(value):
    """The number of a value's type, and its bytes."""
    if isinstance(value, bool):
        return 7, struct.pack("<B", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, (str, bytes)):
        return 8, _text(value)
    kind, _ = _value(value[0] if value else "")
    if kind == 4:
        kind, items = 5, b"".join(struct.pack("<i", v) for v in value)
    else:
        items = b"".join(_value(v)[1] for v in value)
    return 9, struct.pack("<IQ", kind, len(value)) + items


class GgufFile:
    """Metadata and tensors in the order in which they were added."""

    def __init__(self):
        self.metadata = {}
        self.tensors = {}

    def add(self, key, value):
        """An int, float, bool, str, or a list of one of them."""
        self.metadata[key] = value

    def add_tensor(self, name, kind, shape, data):
        """A row-major shape and the bytes of its blocks."""
        _, elements, size = TYPES[kind]
        count = 1
        for n in shape:
            count *= n
        assert shape[-1] % elements == 0 and len(data) == count // elements * size, (name, kind)
        self.tensors[name] = (kind, shape, data)

    def write(self, path):
        """Writes version 3 of the format."""
        out = [b"GGUF", struct.pack("<IQQ", 3, len(self.tensors), len(self.metadata))]
        for key, value in self.metadata.items():
            kind, data = _value(value)
            out.append(_text(key) + struct.pack("<I", kind) + data)
        offset = 0
        for name, (kind, shape, data) in self.tensors.items():
            out.append(_text(name) + struct.pack("<I", len(shape)))
            out.append(b"".join(struct.pack("<Q", n) for n in reversed(shape)))
            out.append(struct.pack("<IQ", TYPES[kind][0], offset))
            offset += (len(data) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        head = b"".join(out)
        with open(path, "wb") as file:
            file.write(head + bytes(-len(head) % ALIGNMENT))
            for _, _, data in self.tensors.values():
                file.write(data + bytes(-len(data) % ALIGNMENT))


def random_blocks(rng, kind, blocks, low_exponent=0, high_exponent=30):
    """Random bytes, in which float16 numbers are finite and have exponents in these bounds."""
    _, _, size = TYPES[kind]
    data = bytearray(rng.randbytes(blocks * size))
    for block in range(blocks):
        for at in HALVES.get(kind, ()):
            place = block * size + at
            exponent = rng.randint(low_exponent, high_exponent)
            data[place + 1] = data[place + 1] & 0x83 | exponent << 2
        if kind in ("F32", "BF16"):
            place = (block + 1) * size - 2
            exponent = rng.randint(low_exponent, high_exponent) + 112
            bits = int.from_bytes(data[place:place + 2], "little") & 0x807F | exponent << 7
            data[place:place + 2] = bits.to_bytes(2, "little")
    return bytes(data)
