"""Counts test cases in what `bazel test --build_event_json_file=FILE` wrote.

Each target leaves an XML file with its cases (gtest, lit_runner.py, or Bazel's own with one case).
A target that failed without a failed case (it crashed, ran out of time, or did not build) counts as
one failure. Lists what failed, then prints "N passed, N failed"; fails if anything did.
"""

import argparse
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree


def read_cases(path):
    """Returns ([names that passed], [names that failed]) of one test.xml; skipped cases are in neither."""
    passed, failed = [], []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(name)
        elif case.find("skipped") is None and case.get("status") != "notrun":
            passed.append(name)
    return passed, failed


def read_events(lines):
    """Returns ({test label: passed?}, {(label, run, shard): path of the last attempt's XML or None})."""
    labels, results = {}, {}
    for line in lines:
        event = json.loads(line)
        identity = event["id"]
        if "testSize" in event.get("configured", {}):
            labels.setdefault(identity["targetConfigured"]["label"], False)
        if "testSummary" in event:
            passed = event["testSummary"]["overallStatus"] in ("PASSED", "FLAKY")
            labels[identity["testSummary"]["label"]] = passed
        if "testResult" in event:
            which = identity["testResult"]
            outputs = {
                output["name"]: output.get("uri", "")
                for output in event["testResult"].get("testActionOutput", [])
            }
            path = urllib.parse.unquote(urllib.parse.urlparse(outputs.get("test.xml", "")).path)
            results[which["label"], which.get("run"), which.get("shard")] = path
    return labels, results


def count(labels, results):
    """Returns (number of passed cases, [what failed])."""
    passed, failed = 0, []
    for label, label_passed in sorted(labels.items()):
        label_failed = []
        for (result_label, _, _), path in results.items():
            if result_label != label or not os.path.isfile(path):
                continue
            try:
                good, bad = read_cases(path)
            except xml.etree.ElementTree.ParseError:
                continue
            passed += len(good)
            label_failed += ["%s %s" % (label, name) for name in bad]
        if not label_passed and not label_failed:
            label_failed = [label]
        failed += label_failed
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--status", type=int, default=0, help="with which `bazel test` ended")
    parser.add_argument("events", help="the file of build events")
    options = parser.parse_args()
    with open(options.events) as lines:
        passed, failed = count(*read_events(lines))
    if options.status != 0 and not failed:
        failed = ["bazel test (status %d)" % options.status]
    if passed == 0 and not failed:
        failed = ["no test ran"]
    for name in failed:
        print("FAILED: " + name)
    print("%d passed, %d failed" % (passed, len(failed)))
    sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
