"""Files and Bazel targets that the documents name exist.

Bazel starts it with the WORKSPACE file; it looks at the tree that file really lies in, so that this
package need not list every file.
"""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.realpath(sys.argv[1]))
DOCUMENTS = ["CONTRIBUTING.md", "README.md", "docs/testing.md", "docs/ir.md", "docs/design.md",
             "docs/writing-a-pass.md", "docs/directives.md", "docs/glossary.md", "docs/opencl.md",
             "docs/devices.md", "docs/cost-model.md", "docs/targets.md", "docs/embedding.md", "docs/text.md", "docs/c.md", "docs/python.md",
             "docs/tutorial.md", "docs/benchmarks.md", "docs/cpu.md",
             "passes/README.md", "passes/simplify/README.md", "passes/rewrite/README.md", "tools/README.md"] + [
                 "docs/passes/%s.md" % name
                 for name in ("kernelize", "schedule", "lower", "expand", "devectorize",
                              "linearize", "simplify")]
FOLDERS = ("ir", "passes", "codegen", "runtime", "tools", "testdata", "docs", "third_party",
           "examples", "capi", "include", "python", "dist")


def read(path):
    with open(os.path.join(ROOT, path)) as source:
        return source.read()


class Paths(unittest.TestCase):
    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            folder = os.path.dirname(os.path.join(ROOT, document))
            for target in re.findall(r"\]\(([^)#:]+)\)", read(document)):
                with self.subTest(document=document, link=target):
                    self.assertTrue(os.path.exists(os.path.join(folder, target)), target)

    def test_files_are_there(self):
        count = 0
        for document in DOCUMENTS:
            for path in re.findall(r"`((?:%s)/[\w./-]+)`" % "|".join(FOLDERS), read(document)):
                if "NAME" in path:
                    continue
                count += 1
                with self.subTest(document=document, path=path):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)
        self.assertGreater(count, 20)

    def test_every_directive_is_described(self):
        names = re.findall(r'kDoc = {\s*"(\w+)"', read("passes/directives/directives.h"))
        self.assertGreater(len(names), 10)
        page = read("docs/directives.md")
        self.assertEqual([name for name in names if "`%s(" % name not in page], [])

    def test_every_architecture_is_described_and_compared(self):
        names = re.findall(r'{\.name = "(\w+)"', read("frontend/gguf/architecture.cc"))
        self.assertGreater(len(names), 5)
        rows = [line.split("|")[1] for line in read("docs/text.md").split("\n")
                if line.startswith("| `")]
        models = re.search(r"MODELS = \[(.*?)\]", read("tools/llm/BUILD"), re.DOTALL)[1]
        for name in names:
            with self.subTest(name):
                self.assertTrue(any("`%s`" % name in row for row in rows), "docs/text.md")
                self.assertIn('"%s"' % name, models)

    def test_glossary(self):
        rows = [[cell.strip() for cell in line.split("|")[1:-1]]
                for line in read("docs/glossary.md").split("\n") if line.startswith("| ")][2:]
        self.assertTrue(40 < len(rows) <= 60, len(rows))
        terms = [row[0].lower() for row in rows]
        self.assertEqual(terms, sorted(set(terms)))
        self.assertEqual([row for row in rows if len(row) != 4 or not row[1] or not row[3]], [])
        # A name that the code has no more is to go.
        code = "".join(read(os.path.join(folder, name))
                       for top in ("ir", "passes", "runtime")
                       for folder, _, names in os.walk(os.path.join(ROOT, top))
                       for name in names if name.endswith((".h", ".cc")))
        named = set(re.findall(r"`([A-Z]\w+)`", " ".join(row[2] for row in rows)))
        self.assertEqual([name for name in sorted(named)
                          if not re.search(r"\b%s\b" % name, code)], [])

    def test_targets_are_there(self):
        count = 0
        for document in DOCUMENTS:
            for package, name in re.findall(r"(?<!:)//([\w/-]+):([\w-]+(?:\.\w+)?)", read(document)):
                count += 1
                with self.subTest(document=document, target=f"//{package}:{name}"):
                    build = read(os.path.join(package, "BUILD"))
                    # A rule, or a name in a list of them: `) for name, ... in [("x_test", ...`.
                    made = f'name = "{name}"' in build or f'("{name}", ' in build or (
                        name == "lit_tests" and "lit_tests(" in build) or (
                        os.path.exists(os.path.join(ROOT, package, name)))
                    self.assertTrue(made, f"{package}/BUILD has no {name}")
        self.assertGreater(count, 5)
