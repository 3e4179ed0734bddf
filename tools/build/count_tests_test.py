"""count_tests.py on hand-written build events and test results."""

import json
import os
import tempfile
import unittest

import count_tests

GTEST = """<testsuites tests="3" failures="1"><testsuite name="S">
<testcase name="A" classname="S" status="run" result="completed" time="0"/>
<testcase name="B" classname="S" status="run" result="completed"><failure message="x"/></testcase>
<testcase name="DISABLED_C" classname="S" status="notrun" result="suppressed"/>
<testcase name="D" classname="S" status="run" result="skipped"><skipped message="no GPU"/></testcase>
</testsuite></testsuites>"""
ONE_PASS = '<testsuites><testsuite><testcase name="t" status="run"/></testsuite></testsuites>'


def configured(label):
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"testSize": "SMALL"}}


def summary(label, status):
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


class CountTestsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def result(self, label, text, shard=1):
        path = os.path.join(self.folder, "%s %d.xml" % (label.strip("/:"), shard))
        with open(path, "w") as out:
            out.write(text)
        return {
            "id": {"testResult": {"label": label, "run": 1, "shard": shard}},
            "testResult": {"testActionOutput": [
                {"name": "test.xml", "uri": "file://" + path.replace(" ", "%20")}]},
        }

    def count(self, *events):
        return count_tests.count(*count_tests.read_events(json.dumps(e) for e in events))

    def test_counts_cases_and_leaves_skipped_ones_out(self):
        self.assertEqual(
            self.count(configured("//:a"), self.result("//:a", GTEST), summary("//:a", "FAILED")),
            (1, ["//:a S.B"]))

    def test_adds_shards(self):
        self.assertEqual(
            self.count(configured("//:a"), self.result("//:a", ONE_PASS, 1),
                       self.result("//:a", ONE_PASS, 2), summary("//:a", "PASSED")),
            (2, []))

    def test_counts_the_last_attempt_only(self):
        self.assertEqual(
            self.count(configured("//:a"), self.result("//:a", GTEST),
                       self.result("//:a", ONE_PASS), summary("//:a", "FLAKY")),
            (1, []))

    def test_target_that_did_not_build_is_a_failure(self):
        self.assertEqual(self.count(configured("//:a")), (0, ["//:a"]))

    def test_failed_target_without_failed_case_is_a_failure(self):
        self.assertEqual(
            self.count(configured("//:a"), self.result("//:a", ONE_PASS), summary("//:a", "TIMEOUT")),
            (1, ["//:a"]))

    def test_broken_result_file_is_a_failure(self):
        self.assertEqual(
            self.count(configured("//:a"), self.result("//:a", "<testsu"), summary("//:a", "FAILED")),
            (0, ["//:a"]))
