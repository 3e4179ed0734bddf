"""The code of docs/python.md runs: docs_test.py WHEEL_FOLDER PAGE MODEL.onnx MODEL.gguf DIGITS_FOLDER

The blocks run in order, as one program, in an empty folder with the models as model.onnx and model.gguf, the network
and a picture of testdata/digits, and a sound that is loudest after half a second. A block behind a
comment `<!-- needs: MODULE -->` runs where that module is installed.
"""

import array
import importlib.util
import math
import os
import re
import shutil
import sys
import tempfile
import unittest
import wave

import wheel_testing

WHEEL, PAGE, ONNX, GGUF, DIGITS = map(os.path.abspath, sys.argv[1:6])
BLOCK = re.compile(r"^(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def write_picture(path):
    import numpy as np
    picture = np.load(os.path.join(DIGITS, "digit.npy"))
    with open(path, "wb") as file:
        file.write(b"P5\n8 8\n16\n" + picture.astype(np.uint8).tobytes())


def write_sound(path):
    rate = 16000
    samples = array.array("h", (int(20000 * math.exp(-((i / rate - 0.5) / 0.02)**2) * math.sin(i / 3))
                                for i in range(rate)))
    with wave.open(path, "wb") as sound:
        sound.setparams((1, 2, rate, 0, "NONE", ""))
        sound.writeframes(samples.tobytes())


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
        for name in ("digits.uop", "digits.safetensors"):
            shutil.copy(os.path.join(DIGITS, name), folder)
        write_picture(os.path.join(folder, "digit.pgm"))
        write_sound(os.path.join(folder, "sound.wav"))
        os.chdir(folder)
        names = {}
        for number, (needs, code) in enumerate(blocks):
            if needs and importlib.util.find_spec(needs) is None:
                continue
            exec(compile(code, "block %d of %s" % (number, PAGE), "exec"), names)  # pylint: disable=exec-used


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
