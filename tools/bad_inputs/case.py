"""What a row of the table of bad inputs is."""

import dataclasses
import struct


@dataclasses.dataclass
class Case:
    """One mistake, and what the user is told.

    A case runs in a folder of its own that holds `files`. Unless `command` says more, the tool is told to
    write its result over a file that is already there.
    """

    group: str
    what: str  # the mistake, for docs/errors.md
    command: str
    error: str  # the first line on standard error; {hint} parts of other lines are not in it
    code: int = 1
    files: dict = dataclasses.field(default_factory=dict)  # name: text, bytes, or None for a folder
    env: dict = dataclasses.field(default_factory=dict)
    file_limit: int = None  # RLIMIT_FSIZE in bytes: a disk that is full
    any_error: bool = False  # the rest of the line is the operating system's or the device's


def changed(text, old, new):
    """`text` with its one `old` replaced."""
    assert text.count(old) == 1, f"{text.count(old)} times {old!r}"
    return text.replace(old, new)


def npy(descr, shape, data, fortran_order=False):
    """The bytes of an npy file, whatever they claim."""
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def floats(count):
    """Bytes of `count` different f32."""
    return struct.pack(f"<{count}f", *range(1, count + 1))


def safetensors(header, data, length=None):
    """The bytes of a safetensors file, whatever they claim."""
    text = header.encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data
