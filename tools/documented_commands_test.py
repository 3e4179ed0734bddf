"""Runs the commands with tinygrad in the documents with the installed tinygrad.

    python3 tools/documented_commands_test.py TG_OPT DOCUMENT...

Skipped without tinygrad. The folder of TG_OPT holds the other tools.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import tinygrad
except ImportError:
    tinygrad = None


def commands(path):
    """The commands of each block of a document, from the first one that runs tinygrad on."""
    with open(path) as source:
        text = source.read()
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        lines = block.splitlines()
        first = [i for i, line in enumerate(lines) if line.startswith("python3 -c 'from tinygrad")]
        if first:
            yield "\n".join(lines[first[0]:])


@unittest.skipIf(tinygrad is None, "tinygrad is not installed")
class DocumentedCommands(unittest.TestCase):
    def test_each_block_runs(self):
        tools = os.path.dirname(TG_OPT)
        env = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"])
        for document in DOCUMENTS:
            blocks = list(commands(document))
            self.assertTrue(blocks, document)
            for block in blocks:
                with tempfile.TemporaryDirectory() as folder, self.subTest(block):
                    result = subprocess.run(
                        ["bash", "-e", "-o", "pipefail", "-c", block], cwd=folder, env=env,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertNotEqual(result.stdout, "")


TG_OPT, *DOCUMENTS = map(os.path.abspath, sys.argv[1:])
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
