#!/usr/bin/env python3
"""Whether a fused kernel is slower than its parts.

    tools/versus_parts.py --tg-opt=... --tg-run=... --target=cl-cpu --device=cpu model.uop graph.repr ...

Takes each different kernel that kernelize makes of the models and that holds several reduces or
stores several values; makes a graph of its body, and of that kernels with kernelize:fuse=false, one
reduce each; runs the kernel and its parts by turns on random inputs, all in a new random order each
round, so that a host's slower minutes fall on both; and prints the time of the parts over that of the
kernel three times: of the least times, of the medians, and the median of the rounds' quotients with
the interval in which that lies with 99 % confidence, whatever the noise's distribution (of the sign
test; none of less than eight rounds). These are times of kernels on the device, where a launch costs
nothing; behind them stand the same of whole runs, launches included. A kernel is slower than its parts
where the interval ends below 1. With --control the parts run twice, the second time in the kernel's
place: what is found then is the noise.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


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


def run_times(args, path, folder):
    """Microseconds of each kernel of a module of kernels, and of the whole run: the least of all runs."""
    target, trace = args.run_target or args.target, os.path.join(folder, "trace.json")
    run([args.tg_run, f"--device={args.device}", f"--target={target}", "--random-inputs=1",
         f"--repeat={args.repeat}", f"--profile={trace}", path])
    with open(trace) as file:
        events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    # Those of the first run, then of the second, and so on.
    kernels = [e["dur"] for e in events if e["cat"] == "kernel"]
    count = len(kernels) // args.repeat
    whole = [e["dur"] for e in events if e["cat"] == "host" and e["name"] == "run"]
    return [min(kernels[k::count]) for k in range(count)] + [min(whole)]


def interval(numbers, confidence=0.99):
    """Where the median of what these are samples of lies; None: they are too few to say."""
    n = len(numbers)
    below, outside = 0, 2.0**-n  # so many of them, or fewer, are under the median with this probability
    while 2 * outside <= 1 - confidence:
        below += 1
        outside += math.comb(n, below) * 2.0**-n
    return (sorted(numbers)[below - 1], sorted(numbers)[n - below]) if below else None


class Pair:
    """A kernel and its parts as modules of kernels in a folder, and the times of their turns."""

    def __init__(self, args, name, kernel, graph, folder):
        self.name = name
        base = os.path.join(folder, re.sub(r"\W", "_", name))
        self.whole, source, self.parts = (f"{base}.{part}.uop" for part in ("whole", "graph", "parts"))
        for path, text in ((self.whole, kernel), (source, graph)):
            with open(path, "w") as file:
                file.write(text)
        run([args.tg_opt, f"--target={args.target}", "--pass=kernelize:init=false:fuse=false", source,
             "-o", self.parts])
        if args.control:
            shutil.copy(self.parts, self.whole)
        self.turns = {self.whole: [], self.parts: []}

    def turn(self, args, folder):
        """Runs both once, either first."""
        for path in random.sample([self.whole, self.parts], 2):
            self.turns[path].append(run_times(args, path, folder))

    def count(self):
        """Kernels of the parts."""
        return len(self.turns[self.parts][0]) - 1

    def times(self, path, in_all):
        """Microseconds of each turn: all kernels on the device, or the whole run."""
        return [turn[-1] if in_all else sum(turn[:-1]) for turn in self.turns[path]]

    def least(self, path, in_all):
        """Of each kernel the least of all turns, summed; of whole runs the least."""
        least = [min(times) for times in zip(*self.turns[path])]
        return least[-1] if in_all else sum(least[:-1])

    def of_turns(self, in_all):
        """Parts over kernel of each turn."""
        return [b / a for a, b in zip(self.times(self.whole, in_all), self.times(self.parts, in_all))]

    def quotients(self, in_all):
        """Parts over kernel: of the least times, of the medians, and the median of the turns' quotients."""
        whole, parts = self.times(self.whole, in_all), self.times(self.parts, in_all)
        return (self.least(self.parts, in_all) / self.least(self.whole, in_all),
                statistics.median(parts) / statistics.median(whole), statistics.median(self.of_turns(in_all)))

    def is_slower(self, in_all):
        """Whether the kernel is slower than its parts, for all that the turns say."""
        found = interval(self.of_turns(in_all))
        return found is not None and found[1] < 1

    def describe(self, in_all):
        found = interval(self.of_turns(in_all))
        between = f" [{found[0]:.3f}, {found[1]:.3f}]" if found else ""
        parts = "" if in_all else f"{self.count()} parts "
        return (f"{self.least(self.whole, in_all):.1f} us, {parts}{self.least(self.parts, in_all):.1f} us, "
                + " ".join(f"{q:.3f}" for q in self.quotients(in_all)) + between)

    def report(self):
        return f"{self.name}: {self.describe(False)}; in all {self.describe(True)}"


def prepare(args, folder):
    """All pairs of the models."""
    pairs = []
    for model in args.models:
        module = run([args.tg_opt, f"--target={args.target}", "--pass=kernelize", model])
        stem = os.path.basename(model).split(".")[0]
        names = [(f"{stem} {name}", kernel, graph) for name, kernel, graph in pairs_of(module)]
        pairs += [Pair(args, *each, folder) for each in names if re.search(args.only, each[0])]
    return pairs


def measure(args, pairs, folder):
    """Rounds over all pairs; stops between rounds once args.seconds have passed."""
    end = time.monotonic() + args.seconds
    for done in range(args.rounds):
        if done and time.monotonic() > end:
            print(f"stopped after {done} rounds")
            break
        for pair in random.sample(pairs, len(pairs)):
            pair.turn(args, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tg-opt", required=True)
    parser.add_argument("--tg-run", required=True)
    parser.add_argument("--target", default="cl-cpu", help="what kernelize makes kernels for")
    parser.add_argument("--run-target", help="what kernels are optimized for if not that: host, the device as it is")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeat", type=int, default=20, help="runs in one process, of which the fastest counts")
    parser.add_argument("--rounds", type=int, default=2, help="processes of each, by turns")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new round after so long")
    parser.add_argument("--only", default="", help="a regular expression that 'MODEL KERNEL' matches somewhere")
    parser.add_argument("--control", action="store_true", help="the parts in the place of each kernel too")
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = prepare(args, folder)
        measure(args, pairs, folder)
        for pair in pairs:
            print(pair.report())
        slower = [sum(pair.is_slower(in_all) for pair in pairs) for in_all in (False, True)]
        print(f"{len(pairs)} kernels; slower than their parts, 99 % sure: {slower[0]}, in all {slower[1]}")


if __name__ == "__main__":
    main()
