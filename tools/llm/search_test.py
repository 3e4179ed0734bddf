"""tg-llm with measured schedules: the same answers.

    search_test.py TG_LLM MODEL.gguf TG_TUNE
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

TG_LLM, MODEL, TG_TUNE = [os.path.abspath(path) for path in sys.argv[1:4]]
PROMPT = ("-p", "Hello, who are you?", "-n", "8", "--device=native")


class Search(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        # The record of --search is in the cache folder.
        self.environment = dict(os.environ, XDG_CACHE_HOME=self.folder)

    def run_tool(self, tool, *arguments, code=0):
        result = subprocess.run([tool, MODEL, *arguments], env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result.stdout.decode(), result.stderr.decode()

    def test_schedules_of_a_file(self):
        path = os.path.join(self.folder, "found")
        self.run_tool(TG_TUNE, "--devices=native", "--graph=decode", "--budget=8",
                      "--export=" + path, "--record=" + path + ".sqlite")
        with open(path) as file:
            lines = [line for line in file.read().splitlines()[1:] if not line.startswith("#")]
        answer, said = self.run_tool(TG_LLM, *PROMPT, "--schedules=" + path)
        used = re.search(r"schedules of %s: (\d+) of \d+ kernels" % re.escape(path), said)
        self.assertIsNotNone(used, said)
        self.assertEqual(int(used[1]), len(lines), "\n".join(lines))
        self.assertEqual(answer, self.run_tool(TG_LLM, *PROMPT)[0])

    def test_search(self):
        answer, said = self.run_tool(TG_LLM, *PROMPT, "--search=10")
        # One search for each graph.
        self.assertEqual(len(re.findall(r"of \d+ kernels gained, by \d+ schedules", said)), 2, said)
        self.assertRegex(said, r"schedules of .*: \d+ of \d+ kernels")
        self.assertTrue(os.path.exists(os.path.join(self.folder, "tg", "schedules.sqlite")))
        self.assertEqual(answer, self.run_tool(TG_LLM, *PROMPT)[0])

    def test_options(self):
        self.assertIn("--search and --schedules: the search finds the schedules",
                      self.run_tool(TG_LLM, *PROMPT, "--search=1", "--schedules=x", code=2)[1])
        self.assertIn("--search is at least 1", self.run_tool(TG_LLM, "--search=0", code=2)[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
