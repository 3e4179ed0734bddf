"""Mistakes in pictures and sounds that are given as inputs, and in their options."""

import struct
import zlib

from case import Case, changed, npy
from onnx_cases import RELU

MODEL = """tg 1
module @m
buffer @x : f32[1, 3, 4, 4] input
buffer @y : f32[1, 3, 4, 4] output

graph @main {
  %x = buffer @x : f32
  %0 = add %x, %x : f32
  sink %0 -> @y
}
"""

SOUND = changed(MODEL, "buffer @x : f32[1, 3, 4, 4]", "buffer @x : f32[1, 8]")
SOUND = changed(SOUND, "buffer @y : f32[1, 3, 4, 4]", "buffer @y : f32[1, 8]")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, lines):
    """A PNG of `lines` of gray pixels, whatever its header claims."""
    data = b"".join(b"\0" + line for line in lines)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def wav(samples, tag=1, bits=16, name=b"data"):
    form = struct.pack("<HHIIHH", tag, 1, 8000, 8000 * bits // 8, bits // 8, bits)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + name + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


PICTURE = png(2, 2, [b"\x10\x20", b"\x30\x40"])
RUN = "tg-run m.uop --device=reference --input x=p.png --output y=y.npy"
RUN_SOUND = RUN.replace("p.png", "w.wav")


def _cases():
    group = "Pictures and sounds"

    def run(what, error, command=RUN, picture=PICTURE, sound=None, code=1, **files):
        files = {"m.uop": SOUND if sound is not None else MODEL, **files}
        files.update({"p.png": picture} if sound is None else {"w.wav": sound})
        files = {name: data for name, data in files.items() if data != "absent"}
        return Case(group, what, RUN_SOUND if sound is not None and command == RUN else command, error,
                    code, files)

    yield run("a missing picture", "tg-run: input @x: cannot open p.png: No such file or directory",
              picture="absent")
    yield run("text for a picture",
              "tg-run: input @x: p.png: this is no picture in a format that is read: JPEG, PNG, BMP",
              picture="hello\n")
    yield run("a torn picture", "tg-run: input @x: p.png: the file ends early", picture=PICTURE[:-20])
    yield run("a picture with a wrong checksum",
              "tg-run: input @x: p.png: the picture is damaged: a checksum does not match at byte 8",
              picture=PICTURE[:20] + b"\x07" + PICTURE[21:])
    yield run("a picture with too few pixels",
              "tg-run: input @x: p.png: the picture is damaged: not enough pixels",
              picture=png(2, 3, [b"\x10\x20"]))
    yield run("a picture that claims to be huge",
              "tg-run: input @x: p.png: a picture of 12000 x 30000 pixels; at most 134217728 are read",
              picture=png(30000, 12000, [b"\x10"]))
    yield run("a picture that claims to be larger than its file can be",
              "tg-run: input @x: p.png: the picture is damaged: 67 bytes for 9000 x 9000 pixels",
              picture=png(9000, 9000, [b"\x10"]))
    yield run("a size that the input does not have",
              "tg-run: input @x: p.png: size=5x5 does not fit the input, f32[1, 3, 4, 4]",
              RUN.replace("p.png", "p.png:size=5"))
    yield run("gray to an input with three channels",
              "tg-run: input @x: p.png: channels=gray are 1, but the input is f32[1, 3, 4, 4]",
              RUN.replace("p.png", "p.png:channels=gray"))
    yield run("an option that there is not",
              "tg-run: --input x: p.png: there is no option 'men'; there are size, resize, fill, scale, "
              "mean, std, layout, channels", RUN.replace("p.png", "p.png:men=1"), code=2)
    yield run("an option with a wrong value",
              "tg-run: --input x: p.png: 'size=4by4' is wrong; right is size=N|HxW: rows and columns, "
              "* for what keeps the aspect (the input's)", RUN.replace("p.png", "p.png:size=4by4"), code=2)
    yield run("a size that an ONNX model does not have",
              "tg-run: input @x: p.png: size=5x5 does not fit the input, f32[2, 3]",
              RUN.replace("m.uop", "m.onnx").replace("p.png", "p.png:size=5"), **{"m.onnx": RELU})
    yield run("text for a sound", "tg-run: input @x: w.wav: this is no WAV file", sound="hello\n")
    yield run("a sound without samples",
              "tg-run: input @x: w.wav: there is no chunk 'data', so that it has no samples",
              sound=wav(bytes(16), name=b"junk"))
    yield run("a torn sound", "tg-run: input @x: w.wav: the file ends early: 13 of 16 bytes of samples",
              sound=wav(bytes(16))[:-3])
    yield run("a compressed sound",
              "tg-run: input @x: w.wav: format 85 with 16 bits is not read, but PCM (1) with 8, 16, 24 or "
              "32 bits and float (3) with 32 or 64 are", sound=wav(bytes(16), tag=85))
    yield run("a sound of another length",
              "tg-run: input @x: w.wav: there are 5 samples, but the input is f32[1, 8]; length=fit cuts or "
              "fills", sound=wav(bytes(10)))
    yield run("an output that is no picture",
              "tg-run: y.png: f32[2, 5, 7] is no picture: rows and columns, with 1, 3 or 4 channels before "
              "or after them", "tg-run m.uop --device=reference --input x=x.npy --output y=y.png",
              **{"m.uop": MODEL.replace("1, 3, 4, 4", "2, 5, 7"),
                 "x.npy": npy("<f4", "(2, 5, 7)", bytes(280))})


MEDIA_CASES = list(_cases())
