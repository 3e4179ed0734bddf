"""The rules for sentences find what they are for, and nothing near it."""

import unittest

import prose


def rules(path, text):
    return [rule for _, rule, _ in prose.problems(path, text)]


class Documents(unittest.TestCase):
    def test_each_rule_finds_a_planted_violation(self):
        planted = {
            "a date": ["Measured on 2031-02-03.", "As of 3 March 2031.", "| since 2031-02 | x |"],
            "a processor's model": ["One core of a Xeon.", "an H100 takes longer", "| RTX 4090 | x |"],
            "milliseconds": ["It takes 1.5 ms.", "- 20ms for all"],
            "apart": ["Loops that are kept apart."],
            "beside": ["The test beside it."],
            "stand": ["It stands there.", "What stood\nthere."],
            "side by side": ["Four results side\nby side."],
            "room": ["There is room for four."],
            "of its own": ["A loop of its own.", "Loops of their own."],
            "those that": ["All those that read."],
            "so many": ["It takes so many rows."],
            "as many as": ["There are as many as fit."],
            "Of a ...:": ["Of a load: its stride.", "It ends. Of the rest: nothing."],
        }
        self.assertEqual(sorted(planted), sorted(name for name, _ in prose.RULES))
        for rule, texts in planted.items():
            for text in texts:
                with self.subTest(rule=rule, text=text):
                    self.assertEqual(rules("a.md", text + "\n"), [rule])

    def test_near_misses(self):
        for text in ["Version v0.14.0, commit 20319.", "2031 kernels of 02 axes.",
                     "It takes 3 s, and 5 us a kernel.", "Besides, rows are read.", "an understanding; outstanding launches",
                     "a bedroom", "a stand-in", "Partly. Of these, one is read.", "[a](docs/apart.md)",
                     "`a beside b` is code", "Vxeon, H1000"]:
            with self.subTest(text):
                self.assertEqual(rules("a.md", text + "\n"), [])

    def test_code_is_no_prose(self):
        self.assertEqual(rules("a.md", "Text.\n\n```\nbeside 1 ms 2031-02-03\n```\n\nText.\n"), [])

    def test_long_paragraphs(self):
        words = " ".join(["word"] * 120)
        self.assertEqual(rules("a.md", words), [])
        self.assertEqual(rules("a.md", words + " more"), ["a paragraph of 121 words"])
        # An item of a list is a paragraph; a row of a table is none.
        self.assertEqual(rules("a.md", "- %s\n- %s\n" % (words[:400], words[:400])), [])
        self.assertEqual(rules("a.md", "- one\n- %s\n" % words), ["a paragraph of 121 words"])
        self.assertEqual(rules("a.md", "| %s |\n" % (words + words)), [])

    def test_the_place_is_told(self):
        self.assertEqual(prose.problems("a.md", "One.\n\nTwo\nis beside it.\n"),
                         [(4, "beside", "Two is beside it.")])


class Sources(unittest.TestCase):
    def test_comments_are_checked(self):
        for path, text in {
                "a.h": "int x;  // kept apart\n",
                "a.cc": "/* kept\n * apart */\n",
                "a.def": "// It is kept\n// apart.\n",
                "a.uop": "// kept apart\n",
                "a.py": "x = 1  # kept apart\n",
                "b.py": 'def f():\n    """Kept apart."""\n',
                "a.sh": "#!/bin/bash\n# kept apart\n",
                "BUILD": "x()  # kept apart\n"}.items():
            with self.subTest(path):
                self.assertEqual(rules(path, text), ["apart"])

    def test_a_phrase_is_found_over_two_lines(self):
        self.assertEqual(prose.problems("a.h", "int x;\n// rows side\n// by side\n"),
                         [(2, "side by side", "rows side by side")])

    def test_code_and_strings_are_not(self):
        for path, text in {
                "a.cc": 'int apart = f("// apart", R"(// apart)", \'"\');\n',
                "a.py": 'apart = "# apart"\n',
                "BUILD": 'x(name = "apart # apart")\n',
                "a.uop": "// CHECK-NEXT: %apart = apart\n// RUN: tg-opt apart\n"}.items():
            with self.subTest(path):
                self.assertEqual(rules(path, text), [])


class Tree(unittest.TestCase):
    FILES = {
        "docs/a.md": "Rows.\n",
        "ir/a.h": "// kept apart\n",
        "ir/test/a.uop": "// rows\n",
        "passes/a.h": "// rows\n",
    }

    def check(self, exceptions=(), **changed):
        files = dict(self.FILES, **{path.replace("__", "/").replace("_", "."): text
                                    for path, text in changed.items()})
        return prose.tree_problems(files, list(exceptions))

    def test_every_file_counts(self):
        self.assertEqual(self.check(), ["ir/a.h:1: apart: kept apart"])
        clean = {"ir__a_h": "// rows\n"}
        self.assertEqual(self.check(**clean), [])
        self.assertEqual(self.check(ir__test__a_uop="// rows beside\n", **clean),
                         ["ir/test/a.uop:1: beside: rows beside"])
        self.assertEqual(self.check(docs__a_md="Kept apart.\n", **clean),
                         ["docs/a.md:1: apart: Kept apart."])

    def test_exceptions(self):
        self.assertEqual(self.check(exceptions=["ir/a.h | kept apart"]), [])
        self.assertEqual(self.check(exceptions=["ir/a.h | kept apart", "passes/a.h | kept apart"]),
                         ["passes/a.h: no such text: kept apart"])
