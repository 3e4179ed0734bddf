#!/usr/bin/env python3
"""Compares whole graphs as C with a device: by GCC and Clang, as C17 and as C99.

    tools/c_units/whole_graphs.py --tg-opt=TG_OPT --tg-run=TG_RUN [--device=cpu] GRAPH.repr[.xz] ...

Inputs and params are random numbers from a fixed seed. Prints a line for each graph and compiler: the
largest difference of an output relative to the output's largest value, and the seconds of compiling and
of one run. Exit code 1 if a difference exceeds 1e-3, or an output is not finite.
"""

import argparse
import array
import lzma
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

TYPES = {"f32": ("f", "<f4"), "i32": ("i", "<i4"), "i64": ("q", "<i8"), "u32": ("I", "<u4"),
         "bool": ("B", "|b1"), "u8": ("B", "|u1"), "i8": ("b", "|i1")}
WAYS = [("gcc", "c", "-std=c17"), ("clang", "c", "-std=c17"), ("gcc", "c99", "-std=c99"), ("clang", "c99", "-std=c99")]
LINE = re.compile(r"^//   (\w+) is @(\S+) : (\w+)\[([\d, ]*)\] (\w+)$", re.M)
MAX_DIFFERENCE = 1e-3


def contents(kind, shape, make):
    """Random numbers that keep the sums of a network finite: scales are near 1, weights near 0."""
    count = math.prod(shape)
    code = TYPES[kind][0]
    if code != "f":
        return array.array(code, [make.randint(0, 1 if kind == "bool" else 9) for _ in range(count)])
    fan_in = math.prod(shape[1:]) if len(shape) > 1 else 1
    is_vector = sum(extent > 1 for extent in shape) < 2
    low, high = (0.5, 1.5) if is_vector else (-math.sqrt(3 / fan_in), math.sqrt(3 / fan_in))
    block = array.array(code, [make.uniform(low, high) for _ in range(min(count, 65537))])
    return (block * (count // len(block) + 1))[:count] if count else block


def npy(kind, shape, data):
    head = repr({"descr": TYPES[kind][1], "fortran_order": False, "shape": tuple(shape)})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data.tobytes()


def read_npy(path, kind):
    raw = path.read_bytes()
    data = array.array(TYPES[kind][0])
    data.frombytes(raw[10 + int.from_bytes(raw[8:10], "little"):])
    return data


def program(buffers, header):
    """A program that reads each buffer from its name's file, runs, and writes it to NAME.out."""
    call = re.search(r"^int net_main\(([^;]*)\);", header, re.M).group(1)
    blocks = [b for b in ("weights", "states", "scratch") if re.search(rf"\b{b}$|\b{b},", call, re.M)]
    lines = ["#include <stdio.h>", "#include <stdlib.h>", '#include "net.h"',
             "static void* get(const char* name, size_t n) {", "  void* p = 0;",
             "  if (posix_memalign(&p, 64, n + 64)) exit(2);", '  FILE* f = name ? fopen(name, "rb") : 0;',
             "  if (name && (!f || fread(p, 1, n, f) != n)) exit(2);", "  return p;", "}", "int main(void) {"]
    for name, _, kind, shape, _ in buffers:
        size = math.prod(shape) * array.array(TYPES[kind][0]).itemsize
        lines.append(f'  void* b_{name} = get("{name}.bin", {size});')
    for block in blocks:
        file = '"net.weights"' if block == "weights" else "0"
        lines.append(f"  void* {block} = get({file}, NET_{block.upper()}_BYTES);")
    if "states" in blocks:
        lines.append(f"  if (net_init({', '.join(blocks)})) return 1;")
    lines.append(f"  if (net_main({', '.join([f'b_{b[0]}' for b in buffers] + blocks)})) return 1;")
    for name, _, kind, shape, role in buffers:
        size = math.prod(shape) * array.array(TYPES[kind][0]).itemsize
        if role == "output":
            lines.append(f'  {{ FILE* f = fopen("{name}.out", "wb"); fwrite(b_{name}, 1, {size}, f); fclose(f); }}')
    return "#define _POSIX_C_SOURCE 200809L\n" + "\n".join(lines + ["  return 0;", "}", ""])


def timed(command, folder):
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return time.monotonic() - start


def difference(expected, actual):
    if not all(map(math.isfinite, expected)) or not all(map(math.isfinite, actual)):
        return math.inf
    most = max(map(abs, expected), default=0)
    return max((abs(a - e) for a, e in zip(actual, expected)), default=0) / (most or 1)


def check(path, options):
    """Prints the lines of a graph; returns whether all is well."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()
        (folder / "net.repr").write_bytes(text)
        expected, fine = {}, True
        for compiler, emit, standard in WAYS:
            timed([options.tg_opt, f"--emit={emit}", "net.repr", "-o", "net.c"], folder)
            header = (folder / "net.h").read_text()
            main = header[header.index("// Graph @main"):]
            buffers = [(n, symbol, kind, [int(d) for d in shape.split(",") if d.strip()], role)
                       for n, symbol, kind, shape, role in LINE.findall(main)]
            if not expected:
                make = random.Random(1)
                run = [options.tg_run, "net.repr", f"--device={options.device}", "--random-inputs=1"]
                for n, symbol, kind, shape, role in buffers:
                    data = contents(kind, shape, make)
                    (folder / f"{n}.bin").write_bytes(data.tobytes())
                    (folder / f"{n}.npy").write_bytes(npy(kind, shape, data))
                    run += [f"--{'output' if role == 'output' else 'input'}", f"{symbol}={n}.npy"]
                timed(run, folder)
                expected = {b[0]: read_npy(folder / f"{b[0]}.npy", b[2]) for b in buffers if b[4] == "output"}
            (folder / "main.c").write_text(program(buffers, main))
            compiling = timed([compiler, standard, "-O1", "-march=native", "-Wall", "-Werror", "-Wno-psabi",
                               "main.c", "net.c", "-lm", "-o", "net"], folder)
            running = timed([folder / "net"], folder)
            worst = 0.0
            for n, _, kind, _, role in buffers:
                if role == "output":
                    actual = array.array(TYPES[kind][0])
                    actual.frombytes((folder / f"{n}.out").read_bytes())
                    worst = max(worst, difference(expected[n], actual))
            fine &= worst <= MAX_DIFFERENCE
            print(f"{path.name.split('.')[0]:14} {compiler:5} {emit:3}  difference {worst:.1e}  "
                  f"compiled in {compiling:5.1f} s, ran in {running:5.2f} s", flush=True)
        return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tg-opt", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--tg-run", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("graphs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    fine = True
    for path in options.graphs:
        try:
            fine &= check(path, options)
        except RuntimeError as error:
            print(f"{path}: {error}", file=sys.stderr)
            fine = False
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
