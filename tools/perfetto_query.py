"""Opens a trace of tg-run in Perfetto's trace processor, and compares it with a report of the run.

    pip install perfetto
    tg-run model.onnx --random-inputs=1 --repeat=3 --profile=trace.json --report=report.json
    python3 tools/perfetto_query.py trace.json report.json

The package perfetto downloads the program trace_processor_shell at its first use; --shell=PATH names
one that is there. Prints how many slices each category has, the kernels with the most time, and the
memory. Fails if Perfetto reports an error in the trace, or if kernels or memory are not those of the
report. CI runs trace_test.py, which needs no package.
"""

import argparse
import collections
import json
import sys

from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

KERNELS = """
    select slice.name as name, count(*) as launches, sum(dur) as nanos
    from slice where category = 'kernel' group by slice.name order by nanos desc
"""
BUFFERS = """
    select slice.name as name, args.string_value as buffer
    from slice join args using (arg_set_id)
    where category = 'kernel' and (args.key glob 'args.reads*' or args.key glob 'args.writes*')
"""
MEMORY = """
    select track.name as name, max(value) as most, count(*) as samples
    from counter join counter_track as track on counter.track_id = track.id group by track.name
"""
CATEGORIES = "select category, count(*) as slices, sum(dur) as nanos from slice group by category"
ROWS = """
    select thread.name as name, count(*) as slices
    from slice join thread_track on slice.track_id = thread_track.id join thread using (utid)
    group by utid order by min(ts)
"""
ERRORS = "select name, value from stats where severity = 'error' and value != 0"


def compare(what, of_trace, of_report, problems):
    if of_trace == of_report:
        print(f"{what}: the trace and the report agree ({len(of_trace)})")
        return
    for key in sorted(set(of_trace) | set(of_report)):
        if of_trace.get(key) != of_report.get(key):
            problems.append(f"{what}: {key}: {of_trace.get(key)} in the trace, {of_report.get(key)} in the report")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("trace")
    parser.add_argument("report")
    parser.add_argument("--shell", help="trace_processor_shell; by default the package downloads it")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    config = TraceProcessorConfig(bin_path=options.shell) if options.shell else TraceProcessorConfig()
    problems = []
    with TraceProcessor(trace=options.trace, config=config) as processor:
        def query(sql):
            return list(processor.query(sql))

        problems += [f"Perfetto reports {row.name}: {row.value}" for row in query(ERRORS)]
        for row in query(ROWS):
            print(f"row {row.name}: {row.slices} slices")
        for row in query(CATEGORIES):
            print(f"category {row.category}: {row.slices} slices, {row.nanos / 1e6:.2f} ms")

        kernels = query(KERNELS)
        for row in kernels[:5]:
            print(f"kernel {row.name}: {row.launches} launches, {row.nanos / 1e3:.1f} us")
        runs = len(report["runs"])
        launches = collections.Counter(k["name"] for k in report["kernels"] if not k["is_copy"])
        compare("launches by kernel", {row.name: row.launches for row in kernels},
                {name: runs * count for name, count in launches.items()}, problems)

        used = collections.defaultdict(set)
        for row in query(BUFFERS):
            used[row.name].add(row.buffer)
        expected = collections.defaultdict(set)
        for kernel in report["kernels"]:
            if not kernel["is_copy"]:
                of_kernel = (report["buffers"][use["buffer"]] for use in kernel["uses"])
                expected[kernel["name"]] |= {f"@{b['name']} {b['type']}" for b in of_kernel}
        compare("buffers by kernel", used, expected, problems)

        memory = {row.name: row for row in query(MEMORY)}
        for row in memory.values():
            print(f"counter {row.name}: {row.samples} samples, at most {row.most / 1e6:.2f} MB")
        live = max(report["memory"]["live_by_kernel"], default=0)
        compare("most memory of temporaries", {"bytes": memory["memory temporaries"].most}, {"bytes": live}, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
