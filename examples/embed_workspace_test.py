"""Builds a copy of examples/embed in an empty folder, with tg as its external repository.

    embed_workspace_test.py WORKSPACE [--run]

WORKSPACE is tg's WORKSPACE file. Without --run, all targets are analysed, and the example's own files and
one library of tg are compiled. With it, all of tg that the example needs is, and the example's test runs.
Compiled files are kept in $TG_TEST_DISK_CACHE, or where .bazelrc.user of tg says.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.realpath(sys.argv[1]))
RUN = "--run" in sys.argv[2:]


def disk_cache():
    """Returns the folder of a disk cache, or None."""
    folder = os.environ.get("TG_TEST_DISK_CACHE")
    own_settings = os.path.join(ROOT, ".bazelrc.user")
    if not folder and os.path.exists(own_settings):
        with open(own_settings) as settings:
            found = re.findall(r"^build .*--disk_cache=(\S+)", settings.read(), re.MULTILINE)
        folder = found[-1] if found else None
    return folder


class EmbedWorkspaceTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        # Bazel makes folders that nobody may write to.
        self.addCleanup(subprocess.run, ["chmod", "-R", "u+w", self.folder])
        self.project = os.path.join(self.folder, "project")
        shutil.copytree(os.path.join(ROOT, "examples/embed"), self.project)

    def bazel(self, command, *arguments):
        # No server stays behind. The outer Bazel's variables would mislead the test setup.
        environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("TEST_", "RUNFILES", "BAZEL", "XML_", "JAVA_RUNFILES", "PYTHON_RUNFILES"))}
        options = ["--override_repository=tg=" + ROOT, "--jobs=2", "--color=no", "--curses=no",
                   "--noshow_progress"]
        cache = disk_cache()
        if cache:
            options.append("--disk_cache=" + cache)
        run = subprocess.run(
            ["bazel", "--batch", "--output_base=" + os.path.join(self.folder, "base"), command,
             *options, *arguments],
            cwd=self.project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout

    @unittest.skipIf(RUN, "the other target does more")
    def test_analyses_and_compiles(self):
        said = self.bazel("build", "--output_groups=compilation_outputs", "//...", "@tg//passes:thread_pool")
        self.assertRegex(said, r"Analyzed \d+ targets")
        output = os.path.join(self.project, "bazel-bin")
        for path in ["_objs/select_to_max/select_to_max.pic.o", "_objs/embed/main.pic.o",
                     "external/tg/passes/_objs/thread_pool/thread_pool.pic.o"]:
            self.assertTrue(os.path.exists(os.path.join(output, path)), path + "\n" + said)

    @unittest.skipIf(not RUN, "needs minutes: bazel test //examples:embed_run_test")
    def test_runs(self):
        self.assertIn("PASSED", self.bazel("test", "--test_summary=short", "//..."))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
