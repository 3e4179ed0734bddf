"""libtg.so exports what tg.h declares, and needs no more than it says: exports_test.py LIBRARY CODEGEN HEADER"""

import re
import subprocess
import sys
import unittest

LIBRARY, CODEGEN, HEADER = sys.argv[1:4]


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class ExportsTest(unittest.TestCase):
    def test_exports_are_those_of_the_header(self):
        with open(HEADER) as header:
            declared = set(re.findall(r"^TG_API [^;]*?\b(tg_\w+)\(", header.read(), re.MULTILINE))
        self.assertGreater(len(declared), 20)
        exported = set()
        for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines():
            kind, name = line.split()[-2:]
            # The linker exports templates of the standard library that Abseil's libraries use too.
            if kind in "VW" and re.match(r"_ZN?K?S|_ZTISt", name):
                continue
            if kind != "A":
                exported.add(name.split("@")[0])
        self.assertEqual(declared, exported)

    def test_needs_neither_opencl_nor_llvm(self):
        for library, others in ((LIBRARY, r"libabsl_\w+\.so\.\d+"), (CODEGEN, "nothing else")):
            needed = re.findall(r"\(NEEDED\).*\[(.*?)\]", run("readelf", "-d", library))
            known = others + r"|lib(c|m|dl|pthread|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*"
            # A build for a sanitizer needs that one's library.
            for sanitizer in re.findall(r" __([at]san)_init\b", run("nm", "-D", "--undefined-only", library)):
                known += r"|lib%s\.so\.\d+" % sanitizer
            self.assertEqual([name for name in needed if not re.fullmatch(known, name)], [])
            self.assertIn("libc.so.6", needed)

    def test_has_functions_that_other_systems_lack(self):
        for library in (LIBRARY, CODEGEN):
            undefined = run("nm", "-D", "--undefined-only", library)
            self.assertIn("malloc", undefined)
            self.assertNotRegex(undefined, r" (arc4random|setupterm|cl[A-Z]\w+)\b")

    def test_has_its_name(self):
        self.assertIn("[libtg.so.1]", run("readelf", "-d", LIBRARY))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
