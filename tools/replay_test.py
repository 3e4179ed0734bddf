"""Tests tools/replay on a small corpus: the differences that it lists, and that it cleans up.

    replay_test.py REPLAY TG_OPT FOLDER

The second version of tg-opt is a script that changes the input or the output of the first one.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# The actions of a script: it runs the second command line, then changes the output.
PLAIN = 'exec {tool} "$@"'
OTHER_OPTS = ('for a in "$@"; do [ "$a" = --pass=default ] && a=--pass=kernelize,schedule:none; '
              'set -- "$@" "$a"; shift; done; exec {tool} "$@"')
RENAMED = '{tool} "$@" 2>{folder}/notes$$ | sed "s/void [rE]_/void another_name_/"; ' \
          'sed "s/kernel @[rE]_/kernel @another_name_/" {folder}/notes$$ >&2'
OTHER_SOURCE = '{tool} "$@" | sed "s/ + 12\\]/ + 13]/"'
OTHER_HELPER = '{tool} "$@" | sed "s/(a < b) | (b != b)/a < b/"'
FAILS = 'echo "tg-opt: lower: this is broken" >&2; exit 1'


class Replay(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text.format(tool=os.path.abspath(TG_OPT), folder=self.folder) + "\n")
        os.chmod(path, 0o755)
        return path

    def replay(self, *arguments, cwd=None, tool=None):
        run = subprocess.run([tool or REPLAY, *arguments], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, cwd=cwd)
        return run.returncode, run.stdout, run.stderr

    def versions(self, text, *options, places=None):
        return self.replay("--base-binary=" + TG_OPT, "--head-binary=" + self.script("head", text),
                           *options, "--", *(places or [FOLDER]))

    def test_same(self):
        code, out, _ = self.versions(PLAIN)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"^\d+ inputs for cl-cpu, cl-gpu: \d+ the same, 0 different \(0 of [1-9]")

    def test_another_name_is_no_difference(self):
        code, out, _ = self.versions(RENAMED)
        self.assertEqual(code, 0, out)

    def test_opts(self):
        code, out, _ = self.versions(OTHER_OPTS, "--target=cl-cpu")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"== \S+softmax.repr for cl-cpu: 1 kernels, 1 different -> "
                              r"1 kernels, 1 different; 1 changed\n! kernel \w+ -> \w+\n"
                              r"  -opts \[\w.*\]\n  \+opts \[\]\n")
        self.assertIn("\n  -  ", out)
        self.assertIn("\n  +  ", out)

    def test_source(self):
        place = "testdata/pipeline/matmul/00-input.uop"
        code, out, _ = self.versions(OTHER_SOURCE, "--target=cl-gpu", places=[place])
        self.assertEqual(code, 1)
        changed = [line for line in out.splitlines() if re.match(r"  [-+]", line)]
        self.assertEqual(len(changed), 2, out)
        self.assertEqual(changed[0].replace("12]", "13]")[3:], changed[1][3:])
        self.assertNotIn("opts", out)

    def test_same_change_is_printed_once(self):
        again = os.path.join(self.folder, "again.uop")
        shutil.copy("testdata/pipeline/matmul/00-input.uop", again)
        _, out, _ = self.versions(OTHER_SOURCE, "--target=cl-gpu",
                                  places=[again, "testdata/pipeline/matmul/00-input.uop"])
        self.assertEqual(out.count("@@"), 2, out)
        self.assertEqual(out.count("  as in "), 1)

    def test_helper(self):
        code, out, _ = self.versions(OTHER_HELPER, "--target=cl-cpu")
        self.assertEqual(code, 1)
        self.assertIn("! helper static inline float max_float(float a, float b)\n", out)

    def test_one_does_not_compile(self):
        code, out, _ = self.versions(FAILS, "--target=cl-cpu")
        self.assertEqual(code, 1)
        self.assertIn("softmax.repr for cl-cpu: only head fails: exit code 1: tg-opt: lower: this is broken",
                      out)
        self.assertNotRegex(out, r" 0 that only one compiles")

    def test_neither_compiles(self):
        place = os.path.join(self.folder, "wrong.uop")
        with open(place, "w") as file:
            file.write("tg 1\nmodule\n")
        code, out, _ = self.versions(PLAIN, "--target=cl-cpu", places=[place])
        self.assertEqual(code, 0, out)
        self.assertTrue(out.endswith("1 that neither does (0 with another error)\n"), out)
        for version, said in [(FAILS, "exit code 1: tg-opt: lower: this is broken"),
                              ("kill -SEGV $$", "exit code -11: no message")]:
            code, out, _ = self.versions(version, "--target=cl-cpu", places=[place])
            self.assertEqual(code, 1)
            self.assertRegex(out, r"wrong.uop for cl-cpu: neither compiles it: another error\n"
                                  r"  -exit code 1: <stdin>:2:.*\n  \+" + said + "\n")

    def test_kernels_that_come_and_go(self):
        place = "testdata/pipeline/matmul/00-input.uop"
        code, out, _ = self.versions('{tool} "$@" | sed "/__kernel/,$ d"', places=[place])
        self.assertEqual(code, 1)
        self.assertRegex(out, r"\n- kernel \w+, runs 1 times, opts \[")

    def test_errors(self):
        self.assertEqual(self.replay()[0], 2)
        self.assertEqual(self.replay("--base-binary=" + TG_OPT)[0], 2)
        code, _, err = self.versions(PLAIN, places=["nowhere"])
        self.assertEqual((code, err), (2, "replay: nowhere: no such file or folder\n"))

    def test_commits(self):
        """A repository whose builds are a script's: `bazel build` copies the tree's tg-opt."""
        tree = os.path.join(self.folder, "repository")
        os.makedirs(os.path.join(tree, "tools"))
        self.script("bazel", 'case " $* " in\n'
                    '*" info output_base "*) echo {folder}/base;;\n'
                    '*" info "*) echo {folder}/bin;;\n'
                    '*) pwd >> {folder}/built; mkdir -p {folder}/bin/tools; '
                    'cp tools/fake-tg-opt {folder}/bin/tools/tg-opt;; esac')
        environment = dict(os.environ, PATH=self.folder + ":" + os.environ["PATH"], HOME=self.folder)

        def git(*arguments):
            return subprocess.run(
                ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments], cwd=tree, check=True,
                env=environment, stdout=subprocess.PIPE, text=True).stdout.strip()
        git("init", "--quiet")
        shutil.copy(REPLAY, os.path.join(tree, "tools"))
        commits = []
        for number, text in enumerate([PLAIN, OTHER_OPTS]):
            os.replace(self.script("fake", text), os.path.join(tree, "tools", "fake-tg-opt"))
            git("add", ".")
            git("commit", "--quiet", "-m", str(number))
            commits.append(git("rev-parse", "HEAD"))

        def replay(*arguments):
            return subprocess.run(
                [os.path.join(tree, "tools/replay"), *arguments, "--", os.path.abspath(FOLDER)],
                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(replay(commits[0], commits[0]).returncode, 0)
        self.assertEqual(replay(commits[0]).returncode, 1)
        self.assertEqual(replay(commits[1]).returncode, 0)
        wrong = replay("no-such-commit")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("no-such-commit", wrong.stderr)
        with open(os.path.join(self.folder, "built")) as file:
            built = file.read().split()
        self.assertEqual(len(built), 6)
        self.assertEqual(built.count(tree), 2)
        self.assertEqual(len(git("worktree", "list").splitlines()), 1)
        self.assertEqual(git("status", "--short"), "")


REPLAY, TG_OPT, FOLDER = [sys.argv[1], sys.argv[2], sys.argv[3]]
REPLAY, TG_OPT = os.path.abspath(REPLAY), os.path.abspath(TG_OPT)
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
