"""Whether each planted bug still has a place in the code.

    planted_bugs_test.py WORKSPACE
"""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import planted_bugs  # noqa: E402

ROOT = os.path.dirname(os.path.realpath(sys.argv[1]))


class PlantedBugs(unittest.TestCase):
    def test_each_text_is_in_its_file_once(self):
        with open(os.path.join(ROOT, "tools/fuzz/planted_bugs.json"), encoding="utf-8") as file:
            bugs = json.load(file)
        self.assertGreater(len(bugs), 10)
        self.assertEqual(planted_bugs.check_bugs(bugs, ROOT), [])

    def test_a_text_that_is_gone_is_named(self):
        gone = {"name": "gone", "file": "tools/fuzz/planted_bugs.json", "search": "no such" + " text"}
        self.assertEqual(planted_bugs.check_bugs([gone], ROOT),
                         ["gone: tools/fuzz/planted_bugs.json holds its text 0 times"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
