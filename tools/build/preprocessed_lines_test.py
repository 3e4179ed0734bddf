"""Bounds the lines that the compiler reads for one file, which decide how long a build takes.

    preprocessed_lines_test.py WORKSPACE OPTIONS STEPS PRECOMPILED...

OPTIONS is a file of compiler_options.bzl, STEPS one of compile_steps.bzl; PRECOMPILED are the files of the rules
library_headers and test_headers (tools/build/BUILD). The headers of the system differ from one machine to the next, so
the bounds are percentages of the lines of all large headers together, the ones that are precompiled.

Preprocessing every file takes long. So the files are ranked by an estimate, and only the first of that ranking
are preprocessed.
"""

import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import unittest

import lint_test

ROOT = lint_test.ROOT
# Bazel's execution root: the options' paths are relative to it.
EXECROOT = os.path.realpath(sys.argv[2]).split("/bazel-out/")[0]
# What README's first command compiles: the number of files, and the sum of their lines after preprocessing as
# multiples of all large headers' lines; with --config=units and without it.
STEPS_BOUNDS = {True: (72, 64), False: (556, 462)}
LISTED = 10
RANKED = 20  # files that are preprocessed, for the LISTED ones to be among them

# Percentages: of the worst file, and of the last one of those LISTED. Lower them where a change allows it.
BOUNDS = {"library": (110, 104), "test": (119, 102)}
# Separate bounds for the only files that include a library of large headers.
OWN_BOUNDS = {"tools/llm/http/http_connection.cc": 131, "tools/llm/http/http_server.cc": 131,
              "tools/llm/http/http_parser.cc": 112, "tools/llm/server_request.cc": 113,
              "codegen/llvm/compile.cc": 114}
# Of headers that many files include; a prefix that ends in "/" is every header of that folder.
HEADER_BOUNDS = {"passes/pass.h": 90, "ir/builder.h": 43, "ir/module.h": 43, "ir/uop.h": 24, "ir/": 70}

with open(sys.argv[2]) as options_file:
    COMPILER, *OPTIONS = options_file.read().splitlines()
OPTIONS = [option for option in OPTIONS if option not in ("-Werror", "-c")]


def run_compiler(path, text=b""):
    return subprocess.run([COMPILER, "-x", "c++", *OPTIONS, "-iquote", ROOT, "-w", "-E", path], input=text,
                          cwd=EXECROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def preprocess(path):
    """Returns the number of lines after preprocessing."""
    run = run_compiler(path)
    if run.returncode != 0:
        raise RuntimeError(path + ": " + run.stderr.decode(errors="replace"))
    return run.stdout.count(b"\n")


def count_lines(paths):
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(paths, pool.map(preprocess, (os.path.join(ROOT, p) for p in paths))))


class Estimate:
    """Lines after preprocessing of each file of `paths`, without preprocessing it.

    A header that is not of this tree is preprocessed once, by itself: the output says how many lines each
    file gives that it brings. A file of this tree gives its own lines, and all that its #includes bring, once.
    """

    def __init__(self, paths):
        self.lines, self.includes, outside = {}, {}, set()
        pending = list(paths)
        while pending:
            path = pending.pop()
            if path in self.includes:
                continue
            text = lint_test.read(path)
            names = re.findall(r'^#include ["<]([^">]+)[">]', text, re.MULTILINE)
            own = [n for n in names if os.path.isfile(os.path.join(ROOT, n))]
            near = [os.path.join(os.path.dirname(path), n) for n in names]
            own += [n for n in near if n not in own and os.path.isfile(os.path.join(ROOT, n))]
            outside.update(set(names) - set(own) - {os.path.basename(n) for n in own})
            self.lines[path], self.includes[path] = text.count("\n"), names + own
            pending += own
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for name, brought in zip(sorted(outside), pool.map(self.brought_by, sorted(outside))):
                self.includes[name] = list(brought)
                for path, lines in brought.items():
                    self.lines[path] = max(lines, self.lines.get(path, 0))

    @staticmethod
    def brought_by(name):
        """Returns {path: lines of the output} of an outside header; {} if there is none."""
        brought = collections.Counter()
        output = run_compiler("-", b"#include <%s>\n" % name.encode()).stdout
        # Line markers: # LINE "PATH" FLAGS.
        for part in re.split(rb"^# \d+ ", output, flags=re.MULTILINE)[1:]:
            brought[part.split(b'"', 2)[1].decode()] += part.count(b"\n")
        return brought

    def of(self, path):
        seen, pending = {path}, [path]
        while pending:
            for included in self.includes.get(pending.pop(), []):
                if included not in seen:
                    seen.add(included)
                    pending.append(included)
        return sum(self.lines.get(p, 0) for p in seen)


def is_test(path):
    return path.endswith("_test.cc") or "/testing/" in path


class PreprocessedLinesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = lint_test.list_files()
        cls.estimate = Estimate([path for path in cls.files if path.endswith(".cc")])
        cls.whole = {re.match(r"[a-z]+", os.path.basename(path)).group(): preprocess(os.path.abspath(path))
                     for path in sys.argv[4:] if path.endswith(".h")}

    def check_worst(self, kind, paths):
        ranked = sorted(paths, key=lambda p: -self.estimate.of(p))
        counts = count_lines(ranked[:RANKED])
        worst = sorted(counts, key=lambda p: -counts[p])[:LISTED]
        print("\n%s files, of %d lines of precompiled headers:" % (kind, self.whole[kind]))
        for path in worst:
            print("%8d  %5.1f %%  %s" % (counts[path], 100 * counts[path] / self.whole[kind], path))
        for path, bound in zip((worst[0], worst[-1]), BOUNDS[kind]):
            self.assertLessEqual(100 * counts[path] / self.whole[kind], bound, path)

    def test_library_files(self):
        self.check_worst("library", [p for p in self.files if p.endswith(".cc") and
                                     not is_test(p) and p not in OWN_BOUNDS])
        counts = count_lines(sorted(OWN_BOUNDS))
        for path, bound in OWN_BOUNDS.items():
            self.assertLessEqual(100 * counts[path] / self.whole["library"], bound, path)

    def test_test_files(self):
        self.check_worst("test", [p for p in self.files if p.endswith(".cc") and is_test(p)])

    def test_steps_of_the_first_command(self):
        with open(sys.argv[3]) as steps_file:
            steps = steps_file.read().split()
        as_units = any(os.path.basename(path).endswith("_unit.cc") for path in steps)
        # Units are among the runfiles; what they include is in the tree.
        steps = [path if os.path.exists(os.path.join(ROOT, path)) else os.path.abspath(path) for path in steps]
        estimate = Estimate(steps)
        lines = sum(estimate.of(path) for path in steps) / self.whole["library"]
        print("\n%d files of %.1f times the precompiled headers' lines%s" % (
            len(steps), lines, ", as units" if as_units else ""))
        max_steps, max_lines = STEPS_BOUNDS[as_units]
        self.assertGreater(len(steps), 30)
        self.assertLessEqual(len(steps), max_steps)
        self.assertLessEqual(lines, max_lines)

    def test_headers(self):
        for prefix, bound in HEADER_BOUNDS.items():
            paths = [prefix] if prefix.endswith(".h") else [
                p for p in self.files if re.fullmatch(re.escape(prefix) + r"\w+\.h", p)]
            counts = count_lines(paths)
            worst = max(counts, key=counts.get)
            share = 100 * counts[worst] / self.whole["library"]
            print("\n%8d  %5.1f %%  %s" % (counts[worst], share, worst))
            self.assertLessEqual(share, bound, worst)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
