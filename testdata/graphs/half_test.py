"""Graphs in half and bfloat16 give what the interpreter gives, within its bounds of rounding errors.

    half_test.py TG_RUN FOLDER

On both CPU devices, or on the device that TG_DEVICE names. The graphs are tinygrad's (v0.10.3): elementwise
functions, sums and means, a matrix product, softmax and norms, a convolution, attention.
"""

import glob
import os
import subprocess
import sys
import unittest


class Half(unittest.TestCase):
    def test_values(self):
        paths = sorted(glob.glob(os.path.join(FOLDER, "*.repr")))
        self.assertEqual(len(paths), 12)
        devices = [os.environ["TG_DEVICE"]] if "TG_DEVICE" in os.environ else ["cpu", "pocl"]
        for path, device in [(path, device) for path in paths for device in devices]:
            with self.subTest(os.path.basename(path), device=device):
                result = subprocess.run(
                    [TG_RUN, path, f"--device={device}", "--random-inputs=1", "--check"],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(result.returncode, 0, result.stdout.decode())
                print(os.path.basename(path), result.stdout.decode(), sep="\n")


TG_RUN, FOLDER = sys.argv[1:3]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
