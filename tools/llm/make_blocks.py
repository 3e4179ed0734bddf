#!/usr/bin/env python3
"""Writes random blocks of every type, and what the `gguf` package decodes them to.

    pip install gguf numpy
    tools/llm/make_blocks.py --blocks=2 testdata/gguf/blocks.gguf

//tools/llm:decode_blocks compares the decoding of such a file bit by bit.
"""

import argparse
import random

import gguf
import numpy
from gguf_file import GgufFile, TYPES, random_blocks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=2, help="blocks of a row")
    parser.add_argument("--rows", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("output")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    file = GgufFile()
    for kind, (number, elements, size) in TYPES.items():
        blocks = args.blocks if elements > 1 else args.blocks * 16
        shape = (args.rows, blocks * elements)
        data = random_blocks(rng, kind, args.rows * blocks)
        file.add_tensor(kind.lower(), kind, shape, data)
        packed = numpy.frombuffer(data, numpy.uint8).reshape(args.rows, blocks * size)
        with numpy.errstate(over="ignore"):
            expected = gguf.quants.dequantize(packed, gguf.GGMLQuantizationType(number))
        file.add_tensor(kind.lower() + ".expected", "F32", shape,
                        expected.astype(numpy.float32).tobytes())
    file.write(args.output)


if __name__ == "__main__":
    main()
