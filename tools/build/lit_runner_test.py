"""lit_tests() must fail where a test file fails or asserts nothing, and count files."""

import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

RUNNER, LIT_MAIN = sys.argv[1:3]
TOOLS = sys.argv[3:]
PASSES = "// RUN: cat %s | FileCheck %s\n// CHECK: {{^}}hello\nhello\n"


class LitRunnerTest(unittest.TestCase):
    def run_lit(self, files):
        """Returns (exit status, output, {file: outcome}) of the runner on {name: text}."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                with open(os.path.join(folder, name), "w") as out:
                    out.write(text)
            command = [sys.executable, os.path.abspath(RUNNER)]
            command += ["--lit=" + os.path.dirname(os.path.dirname(os.path.abspath(LIT_MAIN)))]
            command += ["--tool=" + os.path.abspath(tool) for tool in TOOLS]
            xml_file = os.path.join(folder, "result.xml")
            environment = dict(os.environ, XML_OUTPUT_FILE=xml_file, TESTBRIDGE_TEST_ONLY="")
            run = subprocess.run(
                command + sorted(files), cwd=folder, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            cases = xml.etree.ElementTree.parse(xml_file).getroot().iter("testcase")
            outcome = {
                case.get("name"): "fail" if case.find("failure") is not None else "pass"
                for case in cases
            }
            return run.returncode, run.stdout, outcome

    def test_counts_each_file(self):
        status, output, outcome = self.run_lit({"a.uop": PASSES, "b.uop": PASSES})
        self.assertEqual(status, 0, output)
        self.assertEqual(outcome, {"a.uop": "pass", "b.uop": "pass"})

    def test_one_wrong_file_fails_alone(self):
        wrong = PASSES.replace("\nhello", "\ngoodbye")
        status, output, outcome = self.run_lit({"a.uop": PASSES, "b.uop": wrong})
        self.assertNotEqual(status, 0)
        self.assertEqual(outcome, {"a.uop": "pass", "b.uop": "fail"})
        self.assertIn("expected string not found", output)

    def test_file_without_assertion_fails(self):
        files = {
            "a.uop": "// RUN: cat %s\nhello\n",
            "b.uop": "// RUN: cat %s > %t\n// CHECK: hello\nhello\n",
            "c.uop": "// RUN: echo FileCheck\n",
        }
        status, output, outcome = self.run_lit(files)
        self.assertNotEqual(status, 0)
        self.assertEqual(outcome, {name: "fail" for name in files})
        self.assertEqual(output.count("asserts nothing"), len(files))

    def test_file_without_run_line_fails(self):
        status, output, outcome = self.run_lit({"a.uop": "// CHECK: hello\nhello\n"})
        self.assertNotEqual(status, 0)
        self.assertEqual(outcome, {"a.uop": "fail"})
        self.assertIn("has no RUN line", output)

    def test_filecheck_without_check_lines_fails(self):
        status, output, _ = self.run_lit({"a.uop": "// RUN: cat %s | FileCheck %s\nhello\n"})
        self.assertNotEqual(status, 0)
        self.assertIn("no check strings found", output)

    def test_not_diff_and_split_file_are_found(self):
        text = (
            "// RUN: split-file %s %t\n// RUN: diff %t/a %t/b\n// RUN: not diff %t/a %s > %t.log\n"
            "//--- a\nx\n//--- b\nx\n")
        status, output, _ = self.run_lit({"a.uop": text})
        self.assertEqual(status, 0, output)
