"""Every mistake of the tables gives one error line and its exit code, and damages no file.

    bad_inputs_test.py TG_OPT TG_RUN DOCUMENT

docs/errors.md is the same tables for people; from the root of the tree this writes it:

    python3 tools/bad_inputs/bad_inputs_test.py --write
"""

import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from cli_cases import CLI_CASES  # noqa: E402
import gguf_cases  # noqa: E402
import media_cases  # noqa: E402
import onnx_cases  # noqa: E402
import run_cases  # noqa: E402
import text_cases  # noqa: E402
import tgx_cases  # noqa: E402

ALL = (text_cases.TEXT_CASES + onnx_cases.ONNX_CASES + gguf_cases.GGUF_CASES + tgx_cases.TGX_CASES +
       run_cases.RUN_CASES + media_cases.MEDIA_CASES + CLI_CASES)
OLD = b"what was here before\n"
# Lines that may precede an error: a bisection's log, and messages of a driver.
BEFORE = re.compile(r"^(BISECT: .*|[0-9]+ errors? generated\.)$")

INTRODUCTION = """# What is said about bad inputs

<!-- Made by tools/bad_inputs/bad_inputs_test.py from the tables in its folder, which it also runs. -->

If an input is wrong, the tools print one line that says what is wrong, and where. They end with exit code 1 (2 if the
command line is wrong), and do not change the files that they would have written. For a mistake in a module's text, the
line of the text follows, with a caret below the place; several mistakes give several such errors, up to fifty. In the
tables, `...` replaces text that depends on the machine. [verifier.md](verifier.md) explains the verifier's numbers
`[V...]`.

A division by zero is not a mistake (its value is in [ops.md](ops.md)), and neither are NaN, infinities and empty
tensors.
"""


def tool(command):
    """The command as a list, with the tool's path for its name."""
    words = shlex.split(command)
    words[0] = os.path.abspath(sys.argv[["tg-opt", "tg-run"].index(words[0]) + 1])
    return words


def fill(folder, files):
    for name, data in files.items():
        path = os.path.join(folder, name)
        if data is None:
            os.mkdir(path)
            continue
        with open(path, "wb") as out:
            out.write(data.encode() if isinstance(data, str) else data)


def contents(folder):
    """{path: bytes, or None for a folder} of everything below `folder`."""
    found = {}
    for at, folders, names in os.walk(folder):
        found.update({os.path.relpath(os.path.join(at, name), folder): None for name in folders})
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as source:
                found[os.path.relpath(path, folder)] = source.read()
    return found


def run(command, files, file_limit=None):
    """Returns (exit code, standard output, standard error, files before, files after)."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        fill(folder, files)
        before = contents(folder)
        # The address sanitizer would also report leaks of drivers.
        leaks = os.path.join(scratch, "leaks")
        fill(scratch, {"leaks": "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\n"})
        env = dict(os.environ, TMPDIR=scratch,
                   LSAN_OPTIONS=f"suppressions={leaks}:print_suppressions=0")

        def limit():
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        # A full disk is an error of write(), without the signal that comes with the limit.
        result = subprocess.run(
            tool(command), cwd=folder, env=env, preexec_fn=limit, restore_signals=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        return (result.returncode, result.stdout, result.stderr.decode(errors="backslashreplace"),
                before, contents(folder))


def matches(expected, line):
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, line) is not None


class BadInputs(unittest.TestCase):
    maxDiff = None

    def check(self, case, command):
        # Old files at the paths of the results.
        files = dict(case.files)
        for name in ("y.npy", "out.uop"):
            if name in command:
                files.setdefault(name, OLD)
        code, out, err, before, after = run(command, files, case.file_limit)
        said = f"{command}\n{err}"
        self.assertEqual(code, case.code, said)
        self.assertEqual(out, b"", said)
        self.assertEqual(after, before, "files have changed: " + said)
        lines = [line for line in err.split("\n") if line]
        own = [line for line in lines if not BEFORE.match(line)]
        self.assertTrue(own, said)
        self.assertTrue(matches(case.error, own[0]), f"expected {case.error}\n{said}")
        errors = [line for line in lines
                  if re.match(r"tg-(opt|run): |\S+: error: |error: [^/]", line)]
        self.assertEqual(errors, own[:1], "one error a mistake: " + said)


def add_tests():
    """One test for each case, so that each is counted."""
    # The address sanitizer ends a program that asks for too much before the program can say so.
    asan = "ASAN_OPTIONS" in os.environ
    for number, case in enumerate(ALL):
        if asan and case.error.endswith(": out of memory"):
            continue
        name = re.sub(r"[^a-z0-9]+", "_", f"{case.group} {case.what}".lower()).strip("_")

        def test(self, case=case):
            self.check(case, case.command)
            if case in text_cases.TEXT_CASES:
                self.check(case, case.command.replace("tg-opt", "tg-run"))

        setattr(BadInputs, f"test_{number:03}_{name}", test)


class GoodInputs(unittest.TestCase):
    """The unchanged inputs are valid, so the change is the cause of each error."""

    def check(self, command, files):
        code, _, err, _, after = run(command, files)
        self.assertEqual((code, err), (0, ""), command)
        return after

    def test_modules(self):
        for text in (text_cases.GRAPH, text_cases.KERNEL, text_cases.LOOP):
            self.check("tg-opt m.uop", {"m.uop": text})
        self.check("tg-opt m.uop --pass=schedule -o out.uop", {"m.uop": text_cases.KERNEL})

    def test_runs(self):
        files = {"m.uop": run_cases.MODEL, "x.npy": run_cases.X, "w.safetensors": run_cases.WEIGHTS}
        for command in (run_cases.RUN, run_cases.RUN_DEVICE):
            self.assertEqual(len(self.check(command, files)["y.npy"]), 256, command)
            self.check(command + " --output y=/dev/null", files)
        for device in ("reference", "cpu"):
            command = run_cases.RUN_N.replace("reference", device) + " --var n=5"
            self.check(command, {"m.uop": run_cases.SYMBOLIC})

    def test_division_by_zero_is_no_mistake(self):
        text = """tg 1
module @m
buffer @x : i32[4] param = [7, -7, 0, -2147483648]
buffer @y : i32[4] output

graph @main {
  %x = buffer @x : i32
  %zero = const 0 : i32
  %q = floordiv %x, %zero : i32
  %r = cmod %x, %zero : i32
  %s = add %q, %r : i32
  sink %s -> @y
}
"""
        results = []
        for device in ("reference", "cpu"):
            command = f"tg-run m.uop --device={device} --output y=y.npy"
            results.append(self.check(command, {"m.uop": text})["y.npy"][-16:])
        expected = b"".join(n.to_bytes(4, "little", signed=True) for n in (7, -7, 0, -2147483648))
        self.assertEqual(results, [expected, expected])


def document():
    """The text of docs/errors.md."""
    out = INTRODUCTION
    groups = {}
    for case in ALL:
        groups.setdefault(case.group, []).append(case)
    for group, cases in groups.items():
        commands = [case.command for case in cases]
        usual = max(dict.fromkeys(commands), key=commands.count)
        columns = {"mistake": lambda c: c.what}
        if len(set(commands)) > 1:
            columns["command"] = lambda c: code_span(c.command) if c.command != usual else ""
        if any(case.code != 1 for case in cases):
            columns["exit code"] = lambda c: str(c.code)
        columns["message"] = lambda c: code_span(c.error)
        out += f"\n## {group}\n\n"
        if commands.count(usual) > 1:
            out += "" if "command" not in columns else "Where no other command is given: "
            out += f"`{usual}`"
            out += "; `tg-run` says the same" if cases[0] in text_cases.TEXT_CASES else ""
            out += ".\n\n"
        else:
            columns["command"] = lambda c: code_span(c.command)
        out += "| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|\n"
        for case in cases:
            out += "| " + " | ".join(cell(case) for cell in columns.values()) + " |\n"
    return out


def code_span(text):
    return "`" + text.replace("|", "\\|") + "`"


class Document(unittest.TestCase):
    def test_it_is_these_tables(self):
        with open(sys.argv[3]) as source:
            self.assertEqual(source.read(), document(), "write it again: see the head of this file")

    def test_there_is_one_row_a_mistake(self):
        self.assertGreaterEqual(len(ALL), 45)
        self.assertEqual(len({(case.group, case.what) for case in ALL}), len(ALL))


if "--write" in sys.argv:
    with open("docs/errors.md", "w") as target:
        target.write(document())
else:
    add_tests()
