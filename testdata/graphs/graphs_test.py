"""Whole models: the importer keeps every node, and the pipeline makes kernels of them.

    graphs_test.py TG_IMPORT TG_OPT FOLDER
"""

import collections
import glob
import lzma
import os
import re
import subprocess
import sys
import unittest

# tinygrad's name -> tg's. Constants and movement may be merged; these may not.
KEPT = {
    "ADD": "add", "MUL": "mul", "MAX": "max", "EXP2": "exp2", "LOG2": "log2", "SIN": "sin",
    "SQRT": "sqrt", "RECIP": "recip", "CMPLT": "cmplt", "CMPNE": "cmpne", "WHERE": "where",
    "CAST": "cast", "REDUCE_AXIS": "reduce_axis", "PERMUTE": "permute", "PAD": "pad",
    "SHRINK": "shrink", "EXPAND": "expand", "CONTIGUOUS": "contiguous", "BUFFER": "buffer",
}


def run(*command, text=None):
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert result.returncode == 0, (command, result.stderr.decode())
    return result.stdout.decode()


class Graphs(unittest.TestCase):
    def test_all_are_there(self):
        self.assertEqual(len(self.graphs()), 9)

    def graphs(self):
        return sorted(glob.glob(os.path.join(FOLDER, "*.repr.xz")))

    def test_import_keeps_every_node(self):
        for path in self.graphs():
            with self.subTest(os.path.basename(path)):
                text = lzma.open(path).read()
                printed = collections.Counter(re.findall(rb"UOp\(Ops\.(\w+),", text))
                module = run(TG_IMPORT, text=text)
                made = collections.Counter(re.findall(r"^  %\S+ = (\w+)", module, re.M))
                for name, mnemonic in KEPT.items():
                    self.assertEqual(made[mnemonic], printed[name.encode()], name)
                self.assertEqual(module.count("\nbuffer @buf"), printed[b"BUFFER"])

    def test_kernels(self):
        for path in self.graphs():
            with self.subTest(os.path.basename(path)):
                source = run(TG_OPT, "--pass=default", "--target=cl-cpu", "--emit=opencl",
                             "--crash-reproducer=none", text=lzma.open(path).read())
                self.assertGreaterEqual(source.count("__kernel "), 4)


TG_IMPORT, TG_OPT, FOLDER = sys.argv[1:4]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
