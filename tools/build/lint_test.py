"""Checks of the source tree that need no compiler: format, length, layers, unfinished work, names,
sentences.

Bazel starts it with the WORKSPACE file and it walks the tree that file really lies in, so that no
package has to list its files; the test is therefore never cached.
"""

import os
import re
import subprocess
import sys
import unittest

import identifiers
import prose
import run_lines

ROOT = os.path.dirname(os.path.realpath(sys.argv[1]))
CLANG_FORMAT = "clang-format-14"
MAX_LINES = 500
LONG_FILES = "tools/build/long_files.txt"
OP_DEFAULTS = "tools/build/op_defaults.txt"
PROSE_EXCEPTIONS = "tools/build/prose_exceptions.txt"
MAX_README_WORDS = 900
# Made from measurements: the one page that may hold figures, dates and the names of machines.
BENCHMARKS = "docs/benchmarks.md"
CODE = (".h", ".cc", ".c", ".cl", ".def", ".bzl", ".py", ".sh")
TEXT = CODE + (".md", ".uop", ".txt", "BUILD", "WORKSPACE", ".bazelrc")
# Who may include whom: a layer sees those to its left; frontend/ sees base/ and ir/ alone.
LAYERS = ["base", "ir", "passes", "codegen", "runtime", "model", "tools", "capi"]
SEES = {layer: LAYERS[: number + 1] for number, layer in enumerate(LAYERS)}
SEES["frontend"] = ["base", "ir", "frontend"]
# The enums of ir/op_groups.h, without Op.
OP_GROUPS = ["Leaf", "Arithmetic", "Conversion", "Identity", "Movement", "Tensor", "Order", "Memory", "Reduce",
             "Lane", "Subgroup"]
# Namespaces in tg that a folder opens besides the ones that its path names.
OWN_NAMESPACES = {"codegen/llvm": "llvm_ir", "frontend/tokenizer/testing": "jinja",
                  "passes/directives": "directive", "passes/rewrite": "prove", "passes/simplify": "rule_lists",
                  "tools": "accuracy"}
for above in ["model", "tools", "capi"]:
    SEES[above] = SEES[above] + ["frontend"]
# A pass includes no other pass, except that simplify is a library as well, which these folders use. A name that
# is not needed is an error, none is added.
SIMPLIFY_USERS = ["devectorize", "expand", "indices", "kernelize", "lower", "schedule"]
# kernelize asks what kernels would cost as they would be scheduled.
ASKS_COST = {("kernelize", "schedule")}
# Who orders the passes.
PIPELINE = ["passes/pipeline.cc", "passes/pipeline.h"]
# What programs that embed tg include (docs/embedding.md): these headers bring no OpenCL header.
PUBLIC_HEADERS = ["model/open.h", "runtime/session/open.h", "runtime/session/reference_session.h",
                  "passes/pass.h", "passes/pass_manager.h", "passes/pipeline.h",
                  "passes/rewrite/engine.h", "ir/builder.h", "ir/module.h", "ir/text/parser.h",
                  "ir/text/printer.h", "ir/verify/verifier.h"]
# Spelled in two parts, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def switches(text):
    """Yields the body of each switch, with those inside it."""
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'[{}]\'', '""', text)
    for start in re.finditer(r"\bswitch \(", text):
        end = begin = text.index("{", start.end())
        depth = 0
        for brace in re.finditer(r"[{}]", text[begin:]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                end = begin + brace.end()
                break
        yield text[begin:end]


def list_files():
    """Returns the paths of the tree relative to ROOT, without hidden folders and Bazel's links."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(
            f for f in folders
            if not f.startswith((".", "bazel-")) and f != "__pycache__")
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(names)]
    return found


def read(path):
    with open(os.path.join(ROOT, path), errors="replace") as source:
        return source.read()


class LintTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = list_files()
        cls.known = set(cls.files)

    def ending(self, *suffixes):
        return [path for path in self.files if path.endswith(suffixes)]

    def assert_none(self, problems):
        if problems:
            self.fail("\n" + "\n".join(problems))

    def test_tree_is_found(self):
        self.assertIn("tools/build/lint_test.py", self.files)

    def test_clang_format(self):
        try:
            run = subprocess.run(
                [CLANG_FORMAT, "--dry-run", "-Werror"] + self.ending(".h", ".cc"),
                cwd=ROOT, stderr=subprocess.PIPE, text=True)
        except FileNotFoundError:
            self.fail(CLANG_FORMAT + " was not found; tools/setup.sh installs it")
        places = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", run.stderr, re.MULTILINE)))
        self.assert_none([" ".join([CLANG_FORMAT, "-i"] + places)] if places else [])
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_whitespace(self):
        problems = []
        for path in self.ending(*TEXT):
            text = read(path)
            if text and not text.endswith("\n"):
                problems.append("%s: no newline at its end" % path)
            for number, line in enumerate(text.split("\n"), 1):
                if "\t" in line:
                    problems.append("%s:%d: a tab" % (path, number))
                if line != line.rstrip():
                    problems.append("%s:%d: space at the end of the line" % (path, number))
        self.assert_none(problems)

    def test_file_length(self):
        allowed = {
            line.split("#")[0].strip() for line in read(LONG_FILES).splitlines()
        } - {""}
        long_files = {path for path in self.ending(*CODE) if read(path).count("\n") > MAX_LINES}
        self.assert_none(
            ["%s: over %d lines (does it still do one thing?)" % (path, MAX_LINES)
             for path in sorted(long_files - allowed)] +
            ["%s: need not be in %s any more" % (path, LONG_FILES)
             for path in sorted(allowed - long_files)])

    def test_switches_over_ops_name_what_they_lack(self):
        """A default is right where a reason says so; a switch over a group of ops never has one."""
        lines = [line.partition("#") for line in read(OP_DEFAULTS).splitlines()]
        allowed = {path.strip(): reason.strip() for path, _, reason in lines if path.strip()}
        problems = ["%s: %s says no reason" % (path, OP_DEFAULTS)
                    for path, reason in allowed.items() if not reason]
        used = set()
        for path in self.ending(".h", ".cc"):
            for body in switches(read(path)):
                if "default:" not in body:
                    continue
                if re.search(r"case (tg::)?(OpGroup|(%s)Op)::k" % "|".join(OP_GROUPS), body):
                    problems.append("%s: a default in a switch over a group of ops" % path)
                elif re.search(r"case (tg::)?Op::k", body):
                    used.add(path)
        self.assert_none(problems + [
            "%s: a switch over Op with a default: switch over a group (ir/op_groups.h), or say in %s why"
            % (path, OP_DEFAULTS) for path in sorted(used - set(allowed))
        ] + ["%s: need not be in %s any more" % (path, OP_DEFAULTS)
             for path in sorted(set(allowed) - used)])

    def test_seconds_are_those_of_the_cost_model(self):
        """Rates of a target are read in passes/cost only, so that no rule measures time."""
        rates = re.findall(r'TG_TARGET_FIELD\(\w+, (\w+), "(?:s|[^"]*/s)"', read("passes/target.def"))
        self.assertTrue(rates)
        used = re.compile(r"target_?(?:\(\))?\.(%s)\b" % "|".join(rates))
        self.assert_none([
            "%s:%d: %s is read outside of passes/cost" % (path, number, used.search(line).group(1))
            for path in self.ending(".h", ".cc")
            if path.startswith(("passes/", "codegen/", "frontend/")) and "_test" not in path and
            not path.startswith(("passes/cost/", "passes/target"))
            for number, line in enumerate(read(path).split("\n"), 1) if used.search(line)
        ])

    def test_nothing_unfinished(self):
        self.assert_none([
            "%s:%d: %s" % (path, number, line.strip())
            for path in self.ending(*TEXT)
            for number, line in enumerate(read(path).split("\n"), 1)
            if UNFINISHED.search(line)
        ])

    def test_prose(self):
        texts = [path for path in self.ending(".md", *prose.SOURCES) if path != BENCHMARKS]
        self.assert_none(prose.tree_problems(
            {path: read(path) for path in texts},
            exceptions=prose.table_lines(read(PROSE_EXCEPTIONS))))

    def test_identifiers(self):
        self.assert_none(identifiers.tree_problems(
            {path: read(path) for path in self.ending(*identifiers.CPP)}))

    def test_readme_is_short(self):
        self.assertLess(len(read("README.md").split()), MAX_README_WORDS)

    def test_small_binary_has_the_options_of_its_configuration(self):
        """A transition cannot name a configuration of .bazelrc, so that small.bzl repeats its options."""
        def options(path, lines, option):
            with open(os.path.join(ROOT, path)) as source:
                found = [o for line in source if re.match(lines, line) for o in re.findall(option, line)]
            return sorted({o for o in found if not re.fullmatch(r"-O\w", o)})
        self.assertEqual(options("tools/build/small.bzl", r" +\S", r'"(-[^"/]\S*?)"'),
                         options(".bazelrc", r"build:(opt|small) ", r"--(?:copt|linkopt)=(\S+)"))

    def test_header_guards(self):
        problems = []
        for path in self.ending(".h"):
            guard = "TG_%s_" % re.sub(r"\W", "_", path).upper()
            text = read(path)
            if "#ifndef %s\n#define %s\n" % (guard, guard) not in text:
                problems.append("%s: the header guard should be %s" % (path, guard))
            elif not text.endswith("#endif  // %s\n" % guard):
                problems.append("%s: should end with '#endif  // %s'" % (path, guard))
        self.assert_none(problems)

    def test_namespaces(self):
        """base/ and ir/ are tg; the names of any other folder are in a namespace in it."""
        problems = []
        for path in self.ending(".h", ".cc"):
            folder = os.path.dirname(path)
            parts = folder.split("/")
            if parts[0] in ("base", "ir") and "interpret" not in parts or parts[0] not in SEES:
                continue
            allowed = {"tg::" + name for name in parts + [OWN_NAMESPACES.get(folder)] if name}
            blocks = re.finditer(r"^namespace (tg[\w:]*) \{\n(.*?)^\}  // namespace", read(path), re.MULTILINE | re.DOTALL)
            for block in blocks:
                # Declarations of another library's classes are in the namespace of that library.
                declares = all(re.fullmatch(r"\s*((class|struct) \w+;.*)?", line) for line in block.group(2).split("\n"))
                if block.group(1) not in allowed and not declares:
                    problems.append("%s: namespace %s, not one of %s" % (path, block.group(1), ", ".join(sorted(allowed))))
        self.assert_none(problems)

    def test_layers(self):
        problems = []
        for path in self.ending(".h", ".cc"):
            layer = path.split("/")[0]
            if layer not in SEES or path.endswith("_test.cc") or "/testing/" in path:
                continue
            for included in re.findall(r'^#include "(\w+)/', read(path), re.MULTILINE):
                if included in SEES and included not in SEES[layer]:
                    problems.append("%s: %s/ must not include %s/" % (path, layer, included))
        self.assert_none(problems)

    def test_passes_include_no_other_pass(self):
        passes = [path.split("/")[1] for path in self.files
                  if re.fullmatch(r"passes/(\w+)/\1\.h", path)
                  and re.search(r"^extern const (?:passes::)?Pass k", read(path), re.MULTILINE)]
        self.assertGreaterEqual(len(passes), 9)
        allowed = {(folder, "simplify") for folder in SIMPLIFY_USERS} | ASKS_COST
        problems, used = [], set()
        for path in self.ending(".h", ".cc"):
            if not path.startswith("passes/") or path in PIPELINE:
                continue
            if path.endswith("_test.cc") or "/testing/" in path:
                continue
            own = path.split("/")[1]
            for included in re.findall(r'^#include "passes/(\w+)/', read(path), re.MULTILINE):
                if included not in passes or included == own:
                    continue
                used |= allowed & {(own, included)}
                if (own, included) not in allowed:
                    problems.append("%s: passes/%s must not include passes/%s" % (path, own, included))
        self.assert_none(problems + ["%s need not include %s any more: remove it here" % unneeded
                                     for unneeded in sorted(allowed - used)])

    def test_public_headers_bring_no_opencl(self):
        included_by = {path: None for path in PUBLIC_HEADERS}
        pending = list(PUBLIC_HEADERS)
        problems = []
        while pending:
            path = pending.pop()
            for included in re.findall(r'^#include ["<]([^">]+)[">]', read(path), re.MULTILINE):
                if included.startswith("CL/"):
                    chain = [path]
                    while included_by[chain[-1]]:
                        chain.append(included_by[chain[-1]])
                    problems.append("%s includes <%s>" % (" includes ".join(reversed(chain)), included))
                elif included in self.known and included not in included_by:
                    included_by[included] = path
                    pending.append(included)
        self.assert_none(problems)

    def test_lit_files_assert_and_are_run(self):
        problems = []
        for path in self.ending(".uop"):
            text = read(path)
            folders = path.split("/")[:-1]
            if "Inputs" in folders or ("test" not in folders and "RUN:" not in text):
                continue
            problem = run_lines.problem(text)
            if problem:
                problems.append("%s %s" % (path, problem))
            while folders and "/".join(folders + ["BUILD"]) not in self.files:
                folders.pop()
            if "lit_tests(" not in read("/".join(folders + ["BUILD"])):
                problems.append("%s: no lit_tests() in the BUILD file of its package" % path)
        self.assert_none(problems)
