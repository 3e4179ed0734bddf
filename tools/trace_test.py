"""Queries a trace of tg-run as viewers of the Trace Event Format (Perfetto, chrome://tracing) do.

    trace_test.py TG_RUN MODULE

Viewers build one track of nested slices per thread, and drop slices that overlap without nesting.
The module is over several devices, which PoCL provides on any machine.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

Slice = collections.namedtuple("Slice", "name category start end depth args")


def tracks(events):
    """{track's name: its slices in order of their starts}, with the depth that a viewer gives each."""
    names = {(e["pid"], e["tid"]): e["args"]["name"]
             for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    by_thread = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            by_thread[event["pid"], event["tid"]].append(event)
    found = {}
    for thread, own in by_thread.items():
        slices, open_ends = [], []
        # An outer slice comes before an inner one with the same start.
        for e in sorted(own, key=lambda e: (e["ts"], -e["dur"])):
            # Times are decimal numbers of microseconds: whole nanoseconds do not round.
            start, end = round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                raise AssertionError(f"{e['name']} ends after the slice that it begins in")
            slices.append(Slice(e["name"], e["cat"], start, end, len(open_ends), e.get("args")))
            open_ends.append(end)
        found[names[thread]] = slices
    return found


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        cls.addClassCleanup(folder.cleanup)
        paths = [os.path.join(folder.name, name) for name in ("trace.json", "report.json")]
        subprocess.run(
            [TG_RUN, MODULE, "--random-inputs=1", "--device=cpu", "--device=B=cpu:1", "--device=C=cpu",
             f"--profile={paths[0]}", f"--report={paths[1]}"],
            check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, POCL_DEVICES="pthread pthread"))
        with open(paths[0]) as trace, open(paths[1]) as report:
            cls.events = json.load(trace)["traceEvents"]
            cls.report = json.load(report)
        cls.tracks = tracks(cls.events)
        cls.devices = [name for name in cls.tracks if name != "host"]

    def kernels(self):
        return [s for name in self.devices for s in self.tracks[name]]

    def test_events_have_what_the_format_requires(self):
        for event in self.events:
            self.assertIn(event["ph"], ("M", "X"))
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["ts"], 0)
                self.assertGreaterEqual(event["dur"], 0)
                self.assertTrue(event["name"] and event["cat"])

    def test_there_is_a_track_for_the_host_and_for_each_device(self):
        self.assertIn("host", self.tracks)
        self.assertEqual(len(self.devices), 2)

    def test_commands_of_a_queue_do_not_overlap(self):
        for name in self.devices:
            self.assertEqual({s.depth for s in self.tracks[name]}, {0}, name)

    def test_kernels_are_those_of_the_report(self):
        """select name, count(*), sum(dur) from slice where category = 'kernel' group by name"""
        counts, nanos = collections.Counter(), collections.Counter()
        for s in self.kernels():
            self.assertEqual(s.category, "kernel")
            counts[s.name] += 1
            nanos[s.name] += s.end - s.start
        expected, seconds = collections.Counter(), collections.Counter()
        for kernel in self.report["kernels"]:
            expected[kernel["name"]] += 1
            seconds[kernel["name"]] += kernel["seconds"]
        self.assertEqual(counts, expected)
        for name, sum_of_name in seconds.items():
            # Two roundings to nanoseconds a slice.
            self.assertAlmostEqual(nanos[name] * 1e-9, sum_of_name, delta=2e-9 * counts[name], msg=name)

    def test_kernels_run_during_the_run(self):
        (run,) = [s for s in self.tracks["host"] if s.name == "run"]
        first = min(s.start for s in self.kernels())
        self.assertGreaterEqual(first, run.start)
        # The clocks of a device and of the host may drift in that time, but not by the whole run.
        self.assertLess(first, run.end)

    def test_kernels_have_their_sizes(self):
        """select extract_arg(arg_set_id, 'args.ops') from slice"""
        for s in self.kernels():
            self.assertEqual(len(s.args["global"]), 3)
            self.assertGreaterEqual(s.args["load_bytes"] + s.args["store_bytes"], 1, s.name)


TG_RUN, MODULE = (os.path.abspath(a) for a in sys.argv[1:3])
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
