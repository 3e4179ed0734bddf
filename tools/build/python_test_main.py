"""Runs the unittest cases of one Python file and writes their results where Bazel looks for them.

    python_test_main.py FILE ARGUMENT...

The file sees sys.argv as if it had been started itself. See python_test.bzl.
"""

import importlib.util
import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree


class RecordingResult(unittest.TextTestResult):
    """Keeps [(test, problem or None, skipped?)] besides printing."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.cases = []

    def addSuccess(self, test):
        super().addSuccess(test)
        self.cases.append((test, None, False))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.cases.append((test, self.failures[-1][1], False))

    def addError(self, test, err):
        super().addError(test, err)
        self.cases.append((test, self.errors[-1][1], False))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.cases.append((test, reason, True))


def write_xml(cases, path):
    """Writes the cases in the form that gtest writes."""
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="python", tests=str(len(cases)))
    for test, problem, skipped in cases:
        suite_name, _, name = test.id().rpartition(".")
        case = ElementTree.SubElement(suite, "testcase", classname=suite_name, name=name)
        if problem is not None:
            # XML cannot hold control characters.
            text = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in problem)
            ElementTree.SubElement(case, "skipped" if skipped else "failure").text = text
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def main():
    sys.argv = sys.argv[1:]
    path = os.path.abspath(sys.argv[0])
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    if suite.countTestCases() == 0:
        sys.exit("%s holds no unittest case" % path)
    if os.environ.get("TESTBRIDGE_TEST_ONLY"):
        pattern = os.environ["TESTBRIDGE_TEST_ONLY"]
        suite = unittest.TestSuite(
            case for group in suite for case in group if pattern in case.id())
    result = unittest.TextTestRunner(resultclass=RecordingResult, verbosity=2).run(suite)
    if os.environ.get("XML_OUTPUT_FILE"):
        write_xml(result.cases, os.environ["XML_OUTPUT_FILE"])
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
