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
             "docs/writing-a-pass.md", "passes/README.md", "tools/README.md"]
FOLDERS = ("ir", "passes", "codegen", "runtime", "tools", "testdata", "docs", "third_party")


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

    def test_targets_are_there(self):
        count = 0
        for document in DOCUMENTS:
            for package, name in re.findall(r"//([\w/-]+):([\w-]+)", read(document)):
                count += 1
                with self.subTest(document=document, target=f"//{package}:{name}"):
                    build = read(os.path.join(package, "BUILD"))
                    made = f'name = "{name}"' in build or (
                        name == "lit_tests" and "lit_tests(" in build)
                    self.assertTrue(made, f"{package}/BUILD has no {name}")
        self.assertGreater(count, 5)
