"""Checks that every option that the documents name exists in tg-opt.

In a document with a section `## tg-opt`, only that section is checked.
"""

import re
import subprocess
import sys
import unittest


class DocsTest(unittest.TestCase):
    def test_options_exist(self):
        tool, documents = sys.argv[1], sys.argv[2:]
        self.assertTrue(documents)
        text = subprocess.run([tool, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        known = set(re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE))
        self.assertGreater(len(known), 15)
        for document in documents:
            with open(document) as source:
                text = source.read()
            section = re.search(r"^## tg-opt$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
            text = section.group(1) if section else text
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text))
            with self.subTest(document=document):
                self.assertTrue(named)
                self.assertEqual(sorted(named - known), [])
