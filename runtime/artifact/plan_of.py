"""Writes the plan of a .tgx file to standard output, for the corpus of artifact_fuzz.

    tg-compile testdata/digits/digits.uop --device=native --no-source -o digits.tgx
    python3 runtime/artifact/plan_of.py digits.tgx > runtime/artifact/corpus/native.plan
"""
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = file.read()
offset, size = struct.unpack_from("<QQ", data, 40)
sys.stdout.buffer.write(data[offset:offset + size])
