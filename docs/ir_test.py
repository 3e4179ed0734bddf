"""The examples of docs/ir.md are right, print unchanged, and show every op.

    ir_test.py TG_OPT docs/ir.md docs/ops.md
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest


def read(path):
    with open(path) as source:
        return source.read()


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tool = os.path.abspath(sys.argv[1])
        cls.blocks = re.findall(r"^```uop\n(.*?)^```$", read(sys.argv[2]), re.MULTILINE | re.DOTALL)

    def opt(self, text, *arguments):
        """tg-opt's output for a module."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "example.uop")
            with open(path, "w") as out:
                out.write(text)
            result = subprocess.run(
                [self.tool, path, "--crash-reproducer=none", *arguments],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""), text)
        return result.stdout

    def test_they_are_modules_that_print_as_they_stand(self):
        self.assertGreater(len(self.blocks), 10)
        for text in self.blocks:
            with self.subTest(text.split("\n")[1]):
                self.assertEqual(self.opt(text), text)

    def test_they_can_be_interpreted(self):
        for text in self.blocks:
            with self.subTest(text.split("\n")[1]):
                self.opt(text, "--pass=simplify", "--check", "-o", "/dev/null")

    def test_every_op_is_shown(self):
        table = read(sys.argv[3]).split("\n## ")[0]
        ops = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
        self.assertGreater(len(ops), 70)
        text = "\n".join(self.blocks)
        missing = [op for op in ops
                   if not re.search(rf"^ *(?:%[\w.]+ = )?{op}\b", text, re.MULTILINE)]
        self.assertEqual(missing, [])
