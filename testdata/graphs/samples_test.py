"""Exported graphs run and give the values that tinygrad computed.

    samples_test.py TG_RUN FOLDER

NAME.repr, with NAME.safetensors where it has weights; NAME.INPUT.in.npy and NAME.OUTPUT.out.npy.
Outputs that a line `# exact: ...` names must be equal, on the device and in the interpreter; others
may differ by 1e-4.
"""

import glob
import os
import re
import subprocess
import sys
import unittest


class Samples(unittest.TestCase):
    def run_sample(self, path, device):
        stem = path[:-len(".repr")]
        with open(path) as file:
            text = file.read()
        exact = " ".join(re.findall(r"^# exact: (.*)", text, re.M)).split()
        if device == "reference" and not exact:
            return
        command = [TG_RUN, path, f"--device={device}"]
        for role, name in re.findall(r"^# tg: (input|output) (\S+)", text, re.M):
            if role == "input":
                command.append(f"--input={name}={stem}.{name}.in.npy")
            else:
                tolerance = "0" if name in exact else "1e-4"
                command.append(f"--expect={name}={stem}.{name}.out.npy:{tolerance}")
        command += re.findall(r"^# run with (\S+)", text, re.M)
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode, 0, result.stdout.decode())

    def test_values(self):
        paths = sorted(glob.glob(os.path.join(FOLDER, "*.repr")))
        self.assertGreaterEqual(len(paths), 8)
        for path in paths:
            for device in ("cpu", "pocl", "reference"):
                with self.subTest(os.path.basename(path), device=device):
                    self.run_sample(path, device)


TG_RUN, FOLDER = sys.argv[1:3]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
