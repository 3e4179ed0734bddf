"""Checks that the excerpts in docs/writing-a-pass.md are what the files say that they name.

An excerpt is a fenced block whose first line is a comment with a path.
"""

import re
import sys
import unittest

BLOCK = re.compile(r"^```\w*\n(?://|#) (\S+/\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class DocTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(sys.argv[1]) as source:
            cls.text = source.read()
        cls.blocks = BLOCK.findall(cls.text)

    def test_most_blocks_are_excerpts(self):
        self.assertGreaterEqual(len(self.blocks), 9)
        self.assertEqual(len(self.blocks), self.text.count("\n```") // 2)

    def test_excerpts_are_in_their_files(self):
        for path, excerpt in self.blocks:
            with self.subTest(path=path, excerpt=excerpt.split("\n")[0]):
                with open(path) as source:
                    self.assertIn(excerpt, source.read())
