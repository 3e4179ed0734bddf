#!/usr/bin/env python3
"""Whether a fused kernel is slower than its parts.

    tools/versus_parts.py --tg-opt=... --tg-run=... --target=cl-cpu --device=cpu model.uop graph.repr ...

Takes each different kernel that kernelize makes of the models and that holds several reduces or
stores several values; converts its body to a graph, and the graph to kernels of one reduce each with
kernelize:fuse=false.
Runs the kernel and its parts one after the other on the same random inputs, in one process, so that
a host's slower minutes fall on both. A turn is a process in which the kernel comes
first and one in which its parts do; the quotient of a turn, the time of the parts over that of the
kernel, is the geometric mean of the medians of both. All kernels take turns, in a new random order
each round.

Printed are the least time of the kernel and the sum of its parts' least times, their quotient, the
median of the turns' quotients and the interval in which that median lies with 99 % confidence,
whatever the distribution of noise (of the sign test; less than eight rounds give none): on the device,
where a launch costs nothing, and behind that with launches, from when all before a kernel has ended
until it has. A kernel is slower than its parts where the interval ends below 1.
"""

import argparse
import json
import math
import os
import random
import re
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


LEAD = """
kernel @lead : kernel {
  %0 = define_global {arg = 0} : ptr<f32, 1>
  %1 = const 1 : f32
  %2 = store %0, %1
  sink %2
}
"""


def together(whole, parts, whole_first):
    """A module that runs the kernels of both modules on the same inputs, after a kernel that does
    nothing, so that the launch conditions of the first and the second are the same."""
    for n in re.findall(r"^buffer @b(\d+) : .* output$", whole, re.M):  # the kernel has other outputs
        whole = re.sub(rf"(?<=[@%])b{n}\b", f"w{n}", whole)
    graph = re.compile(r"^graph @main \{\n(.*?)  sink (.*?)\n\}\n", re.M | re.S)
    bodies = [graph.search(text).groups() for text in ((whole, parts) if whole_first else (parts, whole))]
    lines, roots = zip(("  %l = buffer @lead : f32\n  %lk = kernel @lead(%l)\n  %la = assign %l, %lk : f32\n", "%la"),
                       *bodies)
    buffers = ["buffer @lead : f32[1] output\n", *re.findall(r"^buffer @w\d+ : .*\n", whole, re.M)]
    main = ["graph @main {\n", *lines, "  sink ", ", ".join(roots), "\n}\n"]
    head, tail = graph.split(parts)[0], graph.split(parts)[-1]
    return "".join([head, *buffers, *main, LEAD, tail, graph.split(whole)[-1]])


def run_times(args, path, whole_first, folder):
    """Of each run of such a module: the microseconds of the kernel and of each part on the device, and of
    the kernel and all parts with launches."""
    target, trace = args.run_target or args.target, os.path.join(folder, "trace.json")
    run([args.tg_run, f"--device={args.device}", f"--target={target}", "--random-inputs=1",
         f"--repeat={args.repeat + 1}", f"--profile={trace}", path])
    with open(trace) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "kernel"]
    size, times = len(events) // (args.repeat + 1), []
    for n in range(size, len(events), size):  # without the first run, which warms up
        device = [e["dur"] for e in events[n + 1 : n + size]]
        ends = [e["ts"] + e["dur"] for e in events[n : n + size]]
        if whole_first:
            times.append((device[0], device[1:], ends[1] - ends[0], ends[-1] - ends[1]))
        else:
            times.append((device[-1], device[:-1], ends[-1] - ends[-2], ends[-2] - ends[0]))
    return times


def interval(numbers, confidence=0.99):
    """The confidence interval of the median; None if there are too few samples."""
    n = len(numbers)
    below, outside = 0, 2.0**-n  # at most this number of them are under the median with this probability
    while 2 * outside <= 1 - confidence:
        below += 1
        outside += math.comb(n, below) * 2.0**-n
    return (sorted(numbers)[below - 1], sorted(numbers)[n - below]) if below else None


class Pair:
    """A kernel and its parts as modules in a folder, and the times of their turns."""

    def __init__(self, args, name, kernel, graph, folder):
        self.name = name
        base = os.path.join(folder, re.sub(r"\W", "_", name))
        source, self.orders = f"{base}.graph.uop", (f"{base}.first.uop", f"{base}.second.uop")
        with open(source, "w") as file:
            file.write(graph)
        parts = graph
        if " = kernel @" not in graph:
            parts = run([args.tg_opt, f"--target={args.target}", "--pass=kernelize:init=false:fuse=false", source])
        for path, whole_first in zip(self.orders, (True, False)):
            with open(path, "w") as file:
                file.write(together(kernel, parts, whole_first))
        self.turns = []  # of each (run_times of one order, of the other)

    def turn(self, args, folder):
        """Runs both orders once, either first."""
        times = {first: run_times(args, self.orders[not first], first, folder)
                 for first in random.sample([True, False], 2)}
        self.turns.append((times[True], times[False]))

    def least(self, in_all):
        """The least times of the kernel, and of its parts: on the device of each the least, summed."""
        runs = [run for turn in self.turns for times in turn for run in times]
        if in_all:
            return min(run[2] for run in runs), min(run[3] for run in runs)
        return min(run[0] for run in runs), sum(map(min, zip(*(run[1] for run in runs))))

    def quotients(self, in_all):
        """Parts over kernel, of each turn."""
        def of(times):
            return statistics.median(run[3] / run[2] if in_all else sum(run[1]) / run[0] for run in times)
        return [math.sqrt(of(first) * of(second)) for first, second in self.turns]

    def is_slower(self, in_all):
        """Whether the turns show that the kernel is slower than its parts."""
        found = interval(self.quotients(in_all))
        return found is not None and found[1] < 1

    def describe(self, in_all):
        whole, parts = self.least(in_all)
        quotients = self.quotients(in_all)
        found = interval(quotients)
        between = f" [{found[0]:.3f}, {found[1]:.3f}]" if found else ""
        count = "" if in_all else f"{len(self.turns[0][0][0][1])} parts "
        return f"{whole:.1f} us, {count}{parts:.1f} us, {parts / whole:.3f} {statistics.median(quotients):.3f}{between}"

    def report(self):
        return f"{self.name}: {self.describe(False)}; with launches {self.describe(True)}"


def prepare(args, folder):
    """All pairs of the models."""
    pairs = []
    for model in args.models:
        module = run([args.tg_opt, f"--target={args.target}", "--pass=kernelize", model])
        stem = os.path.basename(model).split(".")[0]
        found = pairs_of(module)
        names = [(f"{stem} {name}", kernel, graph) for name, kernel, graph in found]
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
    parser.add_argument("--repeat", type=int, default=10, help="runs of both in one process")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new round after so long")
    parser.add_argument("--only", default="", help="a regular expression that 'MODEL KERNEL' matches somewhere")
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = prepare(args, folder)
        measure(args, pairs, folder)
        for pair in pairs:
            print(pair.report())
        slower = [sum(pair.is_slower(in_all) for pair in pairs) for in_all in (False, True)]
        print(f"{len(pairs)} kernels; slower than their parts, 99 % sure: {slower[0]}, with launches {slower[1]}")


if __name__ == "__main__":
    main()
