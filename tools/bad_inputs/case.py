"""A row of the table of bad inputs, and the construction of files with mistakes."""

import dataclasses
import struct


@dataclasses.dataclass
class Case:
    """One mistake, and the message to the user.

    The command runs in a folder that holds only `files`, and old files at the paths of the outputs
    that it names.
    """

    group: str
    what: str  # the mistake, for docs/errors.md
    command: str
    error: str  # the error's line; `...` matches text that depends on the machine
    code: int = 1  # 1: something is wrong with the input, 2: with the command line
    files: dict = dataclasses.field(default_factory=dict)  # name: text, bytes, or None for a folder
    file_limit: int = None  # the maximal size of a file in bytes, as on a full disk


def changed(text, old, new):
    """`text` with its one `old` replaced."""
    assert text.count(old) == 1, f"{text.count(old)} times {old!r}"
    return text.replace(old, new)


def npy(descr, shape, data):
    """The bytes of an npy file, whatever they claim."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def floats(count):
    """The bytes of `count` different f32."""
    return struct.pack(f"<{count}f", *range(1, count + 1))


def safetensors(header, data, length=None):
    """The bytes of a safetensors file, whatever they claim."""
    text = header.encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data
