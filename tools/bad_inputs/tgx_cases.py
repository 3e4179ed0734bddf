"""Mistakes in compiled models."""

import struct

from case import Case

GROUP, COMMAND = "A compiled model", "tg-run m.tgx"
MAGIC, VERSION = b"\x89tgx\r\n\x1a\n", 6
MASK = (1 << 64) - 1


def folded(a, b):
    return (a * b ^ (a * b) >> 64) & MASK


def hash_of(data):
    """As docs/artifact.md describes it."""
    factors, start = (0xa0761d6478bd642f, 0xe7037ed1a0b428db), 0x9e3779b97f4a7c15
    lanes = [(len(data) + i + 1) * start & MASK for i in range(2)]
    data += bytes(32 - len(data) % 32)
    for at in range(0, len(data), 32):
        words = struct.unpack_from("<4Q", data, at)
        lanes = [folded(lanes[i] ^ words[2 * i], factors[i] ^ words[2 * i + 1]) for i in range(2)]
    return folded(lanes[0] ^ start, lanes[1] ^ factors[0])


def head(file_bytes=4100, weights=(4096, 0), plan=(4096, 4), plan_hash=hash_of(b"plan"), version=VERSION):
    fields = struct.pack("<8sII6Q", MAGIC, version, 0, file_bytes, *weights, *plan, plan_hash)
    return fields + struct.pack("<Q", hash_of(fields))


def file(plan=b"plan", **fields):
    data = head(**{"file_bytes": 4096 + len(plan), "plan": (4096, len(plan)), "plan_hash": hash_of(plan), **fields})
    return data + bytes(4096 - len(data)) + plan


def case(what, data, error):
    return Case(GROUP, what, COMMAND, f"tg-run: m.tgx: {error}", files={"m.tgx": data})


def changed_at(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


TGX_CASES = [
    case("an empty file", b"", "it is no .tgx file"),
    case("a damaged mark at its begin", changed_at(file(), 0), "it is no .tgx file"),
    case("line ends that a transfer as text changed", file().replace(b"\r\n", b"\n"), "it is no .tgx file"),
    case("cut off within the head", file()[:40], "it ends at byte 40, within its head"),
    case("of another version", file(version=99),
         f"its format has version 99, and this program reads {VERSION}; compile the model again"),
    case("a damaged head", changed_at(file(), 20), "its head, bytes 0 to 72, is damaged"),
    case("cut off behind the head", file()[:4098], "it has 4098 bytes, not 4100: it was cut off"),
    case("weights beyond the end", file(weights=(4096, 5)), "a section is outside of it"),
    case("weights that are no whole pages", file(weights=(80, 0)), "a section is outside of it"),
    case("a plan beyond the end", head(plan=(4096, 5)) + bytes(4028), "a section is outside of it"),
    case("a damaged plan", changed_at(file(), 4097), "its plan, bytes 4096 to 4100, is damaged"),
    case("a plan that ends within a text", file(), "byte 4 of the plan: a text goes beyond its end"),
    case("an empty plan", file(b""), "byte 0 of the plan: a number goes beyond its end"),
]
