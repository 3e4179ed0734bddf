"""Checks --config=portable: no libraries but libc and the OpenCL loader, and a libstdc++ whose symbols
are not visible to other libraries.

    portable_test.py TG_OPT TG_RUN
"""

import os
import re
import subprocess
import sys
import unittest

MODEL = "tools/test/run/models/softmax.uop"
LIBC = r"(libc|libm|libdl|libpthread|librt)\.so\.\d+|ld-linux.*"


def said(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Portable(unittest.TestCase):
    def test_libraries(self):
        for tool, own in [(TG_OPT, set()), (TG_RUN, {"libOpenCL.so.1"})]:
            needed = re.findall(r"^ +NEEDED +(\S+)$", said("objdump", "-p", tool), re.M)
            self.assertIn("libc.so.6", needed)
            self.assertEqual({name for name in needed if not re.fullmatch(LIBC, name)}, own)

    def test_no_symbol_is_exported(self):
        for tool in (TG_OPT, TG_RUN):
            lines = said("nm", "--dynamic", "--defined-only", "--demangle", tool).splitlines()
            # Symbols that libc must find here: copies of its variables.
            exported = [line for line in lines if not re.search(r"@GLIBC_[0-9.]+$", line)]
            self.assertEqual(exported, [])

    def test_a_device(self):
        for device in ("native", "pocl"):
            said_of_it = said(TG_RUN, MODEL, "--random-inputs=1", "--check", "--cache=false",
                              f"--device={device}")
            self.assertIn("@y against the interpreter", said_of_it)


TG_OPT, TG_RUN = [os.path.abspath(path) for path in sys.argv[1:3]]
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
