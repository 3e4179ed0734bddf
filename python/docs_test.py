"""The code of docs/python.md runs: docs_test.py WHEEL_FOLDER PAGE MODEL.onnx MODEL.gguf

The blocks run in order, as one program, in an empty folder with the models as model.onnx and model.gguf. A block behind a
comment `<!-- needs: MODULE -->` runs where that module is installed.
"""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
import unittest

import wheel_testing

WHEEL, PAGE, ONNX, GGUF = map(os.path.abspath, sys.argv[1:5])
BLOCK = re.compile(r"^(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class DocsTest(unittest.TestCase):
    def test_blocks_run(self):
        wheel_testing.use(WHEEL)
        with open(PAGE) as page:
            text = page.read()
        blocks = BLOCK.findall(text)
        self.assertEqual(len(blocks), text.count("```python\n"))
        self.assertGreater(len(blocks), 5)
        folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        shutil.copy(ONNX, os.path.join(folder, "model.onnx"))
        shutil.copy(GGUF, os.path.join(folder, "model.gguf"))
        os.chdir(folder)
        names = {}
        for number, (needs, code) in enumerate(blocks):
            if needs and importlib.util.find_spec(needs) is None:
                continue
            exec(compile(code, "block %d of %s" % (number, PAGE), "exec"), names)  # pylint: disable=exec-used


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
