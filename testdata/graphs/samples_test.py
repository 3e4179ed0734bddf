"""Exported graphs run and give the values that tinygrad computed.

    samples_test.py TG_RUN FOLDER

NAME.repr, with NAME.safetensors where it has weights; NAME.INPUT.in.npy and NAME.OUTPUT.out.npy.
"""

import glob
import os
import re
import subprocess
import sys
import unittest


class Samples(unittest.TestCase):
    def test_values(self):
        paths = sorted(glob.glob(os.path.join(FOLDER, "*.repr")))
        self.assertGreaterEqual(len(paths), 8)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                stem = path[:-len(".repr")]
                with open(path) as file:
                    text = file.read()
                command = [TG_RUN, path]
                for role, name in re.findall(r"^# tg: (input|output) (\S+)", text, re.M):
                    if role == "input":
                        command.append(f"--input={name}={stem}.{name}.in.npy")
                    else:
                        command.append(f"--expect={name}={stem}.{name}.out.npy:1e-4")
                command += re.findall(r"^# run with (\S+)", text, re.M)
                result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(result.returncode, 0, result.stdout.decode())


TG_RUN, FOLDER = sys.argv[1:3]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
