"""Examples of the passes' pages are right: tg-opt makes the second listing of the first.

    examples_test.py TG_OPT PAGES...

An example is a fenced block `uop`, a module; then a comment `<!-- tg-opt OPTIONS -->` and another
block, which is what the tool prints for that module, line for line; a line `...` skips lines. A
second comment and block may follow, for the same module. The tool also interprets the module before
and after each pass and compares.

It checks the form of the pages as well: their sections, their length, and that their tables of
options are those of the tool.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import listings_test

SECTIONS = ["Problem", "Algorithm", "Example", "Options", "What it does not do", "References"]
MAX_WORDS = 700
BLOCK = re.compile(r"^(?:<!-- tg-opt (?P<options>[^\n]*) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)


def examples(page):
    """Yields (module, options, expected lines)."""
    module = None
    for match in BLOCK.finditer(page):
        if match.group("options") is not None:
            yield module, match.group("options").split(), match.group("text").rstrip("\n").split("\n")
        elif match.group("kind") == "uop":
            module = match.group("text")


def options_of(page):
    """{name: default or None} by the rows of the section Options."""
    section = page.split("\n## Options\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)(?:=\w+)?` \| ([^|]*) \|", section, re.MULTILINE)
    return {name: None if default in ("on", "off", "none") else default.strip("`")
            for name, default in rows}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tool = os.path.abspath(sys.argv[1])
        cls.pages = {}
        for path in sys.argv[2:]:
            with open(path) as source:
                cls.pages[os.path.basename(path)[: -len(".md")]] = source.read()

    def run_tool(self, *arguments):
        result = subprocess.run([self.tool, *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_examples(self):
        for name, page in self.pages.items():
            found = list(examples(page))
            self.assertTrue(found, "%s.md has no example" % name)
            for module, options, expected in found:
                with self.subTest(page=name, options=options):
                    with tempfile.TemporaryDirectory() as folder:
                        path = os.path.join(folder, "example.uop")
                        with open(path, "w") as out:
                            out.write(module)
                        printed = self.run_tool(path, "--check", "--crash-reproducer=none", *options)
                    self.assertTrue(
                        listings_test.stands_in(expected, printed.rstrip("\n").split("\n")), printed)

    def test_sections(self):
        for name, page in self.pages.items():
            with self.subTest(page=name):
                self.assertTrue(page.startswith("# %s\n" % name))
                self.assertEqual(re.findall(r"^## (.*)$", page, re.MULTILINE), SECTIONS)
                algorithm = page.split("\n## Algorithm\n")[1].split("\n## ")[0]
                steps = len(re.findall(r"^\d+\. ", algorithm, re.MULTILINE))
                self.assertTrue(1 <= steps <= 10, "%d steps" % steps)

    def test_length(self):
        for name, page in self.pages.items():
            with self.subTest(page=name):
                self.assertLessEqual(len(page.split()), MAX_WORDS)

    def test_options_are_those_of_the_tool(self):
        known = {}
        for line in self.run_tool("--list-passes").split("\n"):
            match = re.match(r"^([\w-]+) ", line)
            option = re.match(r"^  :([\w-]+)(?:=\w+)? .*?(?:\(default (\S+)\))?$", line)
            if match:
                options = known.setdefault(match.group(1), {})
            elif option:
                options[option.group(1)] = option.group(2)
        self.assertEqual(sorted(self.pages), sorted(known))
        for name, page in self.pages.items():
            with self.subTest(page=name):
                self.assertEqual(options_of(page), known[name])
