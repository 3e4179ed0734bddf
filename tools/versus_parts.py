#!/usr/bin/env python3
"""Whether a fused kernel is slower than its parts.

    tools/versus_parts.py --tg-opt=... --tg-run=... --target=cl-cpu --device=cpu model.uop graph.repr ...

Takes each different kernel that kernelize makes of the models and that holds several reduces or
stores several values; makes a graph of its body, and of that kernels with kernelize:fuse=false, one
reduce each; runs the kernel and its parts by turns on random inputs; prints the least time of each
and their ratio. A launch costs nothing in these: they are times of kernels on the device. Behind them
stand the times of whole runs, launches included.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
# A row of tg-run's table of kernels, not the summary behind it: "3  r_32_16  ...  21.1 us ...".
KERNEL_LINE = re.compile(r"\s*\d+\s+\w+\s.*?([\d.]+) (ns|us|ms|s) ")


def pairs_of(module):
    """(name, module with that kernel alone, module with a graph in its place) of the kernels of a
    kernelized module that may have parts."""
    target = re.search(r"^module @\S+( \{.*\})?$", module, re.M).group(1) or ""
    variables = re.findall(r"^var .*$", module, re.M)
    for match in re.finditer(r"^kernel @(\S+) : kernel.*?\{\n(.*?)^\}\n", module, re.M | re.S):
        text, name, body = match[0], match[1], match[2]
        if body.count("= reduce_axis ") < 2 and body.count("= store ") < 2:
            continue
        graph = graph_of(body)
        if graph:
            buffers, lines, outputs = graph
            head = ["tg 1", f"module @part{target}", *variables, *buffers, "", "graph @main {"]
            count = len(buffers)
            reads = [f"  %b{n} = buffer @b{n} : {buffers[n].split()[3].split('[')[0]}" for n in range(count)]
            calls = [f"  %k = kernel @{name}({', '.join(f'%b{n}' for n in range(count))})"]
            calls += [f"  %a{n} = assign %b{n}, %k : {reads[n].split()[-1]}" for n in outputs]
            calls.append("  sink " + ", ".join(f"%a{n}" for n in outputs))
            yield name, "\n".join([*head, *reads, *calls, "}", "", text]), "\n".join([*head, *lines, "}", ""])


def graph_of(body):
    """(declarations of buffers, lines of a graph that does what a kernel's body does, numbers of the
    buffers it writes); None: it has none."""
    lines, sizes, loaded, stored, alias, pointers = [], {}, set(), set(), {}, {}
    for line in body.splitlines():
        line = re.sub(r"%[\w.]+", lambda m: alias.get(m[0], m[0]), line)
        match = re.match(r"  (%\S+) = (\S+) ?(.*)$", line)
        if not match:
            continue
        name, op, rest = match.groups()
        types = re.search(r": ptr<(\w+), (\d+)>$", rest)
        if op == "define_global":
            number = int(re.search(r"arg = (\d+)", rest)[1])
            if types is None:
                return None  # of a symbolic size
            sizes[number] = types.groups()
            pointers[name] = number
            lines.append(f"  {name} = buffer @b{number} : {types[1]}")
        elif op in ("load", "staged"):
            source = re.match(r"(%\S+)", rest)[1].rstrip(",")
            alias[name] = source
            if op == "load":
                loaded.add(pointers[source])
        elif op == "store":
            place, value = re.match(r"(%\S+), (%\S+)", rest).groups()
            stored.add(pointers[place])
            kind = re.findall(rf"^  {re.escape(value)} = .* : (\w+)$", "\n".join(lines), re.M)
            lines.append(f"  {name} = assign {place}, {value} : {kind[-1]}")
        else:
            source = re.match(r"(%\S+?),? ", rest + " ")
            if types and source and source[1] in pointers:
                pointers[name] = pointers[source[1]]
                line = line.replace(f": ptr<{types[1]}, {types[2]}>", f": {types[1]}")
            lines.append(line)
    if loaded & stored:
        return None  # in place: a part may not read what another has written
    roles = [(f"b{n}", *sizes[n], "output" if n in stored else "input") for n in sorted(sizes)]
    buffers = [f"buffer @{n} : {t}[{count}] {role}" for n, t, count, role in roles]
    results = re.findall(r"^  (%\S+) = assign ", "\n".join(lines), re.M)
    return buffers, [*lines, "  sink " + ", ".join(results)], sorted(stored)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(" ".join(command) + "\n" + done.stdout + done.stderr)
    return done.stdout + done.stderr


# "3 kernels, 6.39 MOPS, 157 us on the device, 206 us in all ..."
SUMMARY = re.compile(r"\d+ kernels?, .* ([\d.]+) (ns|us|ms|s) in all")


def run_times(args, path):
    """Microseconds of each kernel of a module of kernels, and of the whole run."""
    out = run([args.tg_run, f"--device={args.device}", f"--target={args.target}", "--random-inputs=1",
               f"--repeat={args.repeat}", "--verbose=2", path])
    lines = out.splitlines()
    found = [*map(KERNEL_LINE.match, lines), *map(SUMMARY.match, lines)]
    return [float(match[1]) * UNITS[match[2]] for match in found if match]


def compare(args, kernel, graph, folder):
    """((microseconds of the kernel, with its launch), (the same of its parts), number of parts)"""
    whole, source, parts = (os.path.join(folder, name) for name in ("whole.uop", "graph.uop", "parts.uop"))
    for path, text in ((whole, kernel), (source, graph)):
        with open(path, "w") as file:
            file.write(text)
    run([args.tg_opt, f"--target={args.target}", "--pass=kernelize:init=false:fuse=false", source, "-o", parts])
    best = {}
    for _ in range(args.rounds):
        for path in (whole, parts):
            times = run_times(args, path)
            best[path] = [min(a, b) for a, b in zip(best.get(path, times), times)]
    sums = {path: (sum(times[:-1]), times[-1]) for path, times in best.items()}
    return sums[whole], sums[parts], len(best[parts]) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tg-opt", required=True)
    parser.add_argument("--tg-run", required=True)
    parser.add_argument("--target", default="cl-cpu")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeat", type=int, default=20, help="runs in one process, of which the fastest counts")
    parser.add_argument("--rounds", type=int, default=2, help="processes of each, by turns")
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    slower = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            module = run([args.tg_opt, f"--target={args.target}", "--pass=kernelize", model])
            for name, kernel, graph in pairs_of(module):
                whole, parts, count = compare(args, kernel, graph, folder)
                slower += whole[0] > parts[0]
                print(f"{os.path.basename(model)} {name}: {whole[0]:.1f} us, {count} parts {parts[0]:.1f} us, "
                      f"{parts[0] / whole[0]:.3f}x; in all {whole[1]:.1f} us, {parts[1]:.1f} us, "
                      f"{parts[1] / whole[1]:.3f}x", flush=True)
    print(f"slower than their parts: {slower}")


if __name__ == "__main__":
    main()
