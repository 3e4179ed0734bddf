"""Queries a trace of tg-run as viewers of the Trace Event Format (Perfetto, chrome://tracing) do.

    trace_test.py TG_RUN MODULE

Viewers build one track of nested slices per thread, and drop slices that overlap without nesting.
The module is over several devices, which PoCL provides on any machine. It runs on two devices, and
on one with empty caches, where other processes compile its kernels.
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
        command = [TG_RUN, MODULE, "--random-inputs=1", "--print=y"]
        subprocess.run(
            command + ["--device=pocl", "--device=B=pocl:1", "--device=C=pocl", f"--profile={paths[0]}",
                       f"--report={paths[1]}"],
            check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, POCL_DEVICES="pthread pthread"))
        with open(paths[0]) as trace, open(paths[1]) as report:
            cls.events = json.load(trace)["traceEvents"]
            cls.report = json.load(report)
        cls.tracks = tracks(cls.events)
        cls.devices = [name for name in cls.tracks if name.endswith("'")]
        empty = {name: os.path.join(folder.name, name) for name in ("TG_CACHE_DIR", "POCL_CACHE_DIR")}
        subprocess.run(
            command + ["--device=pocl", "--device=B=pocl", "--device=C=pocl", f"--profile={paths[0]}"],
            check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, POCL_DEVICES="pthread", **empty))
        with open(paths[0]) as trace:
            cls.cold = tracks(json.load(trace)["traceEvents"])

    def kernels(self):
        return [s for name in self.devices for s in self.tracks[name]]

    def test_events_have_what_the_format_requires(self):
        for event in self.events:
            self.assertIn(event["ph"], ("M", "X", "C"))
            self.assertIsInstance(event["pid"], int)
            if event["ph"] == "C":
                continue
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
            self.assertEqual(s.category, "transfer" if s.name == "copy" else "kernel")
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

    def test_slices_are_in_order(self):
        starts = collections.defaultdict(list)
        for event in self.events:
            if event["ph"] == "X":
                starts[event["tid"]].append((event["ts"], -event["dur"]))
        for tid, of_row in starts.items():
            self.assertEqual(of_row, sorted(of_row), tid)

    def test_passes_are_inside_their_step(self):
        host = self.tracks["host"]
        steps = [s for s in host if s.name == "passes"]
        passes = [s for s in host if s.depth == 1]
        self.assertEqual(len(steps), 1)
        self.assertLessEqual({"kernelize", "schedule", "lower", "linearize"}, {s.name for s in passes})
        for s in passes:
            self.assertTrue(steps[0].start <= s.start and s.end <= steps[0].end, s)

    def test_transfers_name_their_buffers(self):
        moved = [s for s in self.tracks["host"] if s.category == "transfer"]
        self.assertEqual({s.name for s in moved}, {"upload", "download"})
        sizes = {"@" + b["name"]: b["bytes"] for b in self.report["buffers"]}
        for s in moved:
            self.assertEqual(s.args["bytes"], sizes[s.args["buffer"]])
        self.assertEqual([s.args["buffer"] for s in moved if s.name == "download"], ["@y"])

    def test_kernels_name_their_buffers(self):
        of_report = [kernel["uses"] for kernel in self.report["kernels"]]
        for s in self.kernels():
            uses = of_report[s.args["number"] - 1]
            for which in ("reads", "writes"):
                names = [self.report["buffers"][u["buffer"]] for u in uses if u[which]]
                self.assertEqual(s.args[which], [f"@{b['name']} {b['type']}" for b in names])

    def test_memory_is_that_of_the_report(self):
        """select value from counter join counter_track where name = 'memory temporaries'"""
        counters = [e for e in self.events if e["ph"] == "C"]
        self.assertEqual({e["name"] for e in counters}, {"memory"})
        times = [e["ts"] for e in counters]
        self.assertEqual(times, sorted(times))
        values = [e["args"]["temporaries"] for e in counters]
        live = self.report["memory"]["live_by_kernel"]
        self.assertEqual(sorted(values), sorted(live + [0]))
        self.assertEqual(values[-1], 0)
        self.assertGreater(max(values), 0)

    def test_compiled_kernels_have_slices(self):
        rows = [name for name in self.cold if name.startswith("compiler ")]
        slices = [s for name in rows for s in self.cold[name]]
        (build,) = [s for s in self.cold["host"] if s.name == "build"]
        (device,) = [name for name in self.cold if name != "host" and name not in rows]
        kernels = [s.name for s in self.cold[device] if s.category == "kernel"]
        self.assertEqual(sorted(s.name for s in slices if s.name != "parse"), sorted(set(kernels)))
        self.assertEqual(sum(s.name == "parse" for s in slices), len(rows))
        for s in slices:
            self.assertEqual((s.category, s.depth), ("compile", 0))
            self.assertTrue(build.start <= s.start and s.end <= build.end, s)

    def test_kernels_have_their_sizes(self):
        """select extract_arg(arg_set_id, 'args.ops') from slice"""
        for s in self.kernels():
            if s.category == "kernel":
                self.assertEqual(len(s.args["global"]), 3)
            self.assertGreaterEqual(s.args["load_bytes"] + s.args["store_bytes"], 1, s.name)


TG_RUN, MODULE = (os.path.abspath(a) for a in sys.argv[1:3])
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
