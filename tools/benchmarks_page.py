"""Makes docs/benchmarks.md of the measurements in docs/benchmarks/*.json.

    python3 tools/benchmarks_page.py docs/benchmarks > docs/benchmarks.md

A file is one table. Its fields: `order` (of the tables on the page), `title`, `note` (what is measured
and how, in a sentence or two), `unit`, `peer` (what tg is compared with), `measured` (when), `machine`,
and `rows`. A row has `work`, `tg` and `peer` in the table's unit, and a `machine` where the table has
none or another one. The ratio is peer / tg: above 1 tg takes less. A row without both numbers may give
a `ratio`.

A file that `tg-bench --json` has written, with `"tool": "tg-bench"`, is a table as it is; a `note` may
say what was special about the machine.
"""

import json
import os
import sys

HEAD = """# Benchmarks

<!-- Made by tools/benchmarks_page.py from docs/benchmarks/*.json; //docs:benchmarks_test compares. -->

Each table says when, where and against what it was measured. A ratio is peer / tg: above 1 tg takes
less. [testing.md](testing.md#measuring) says how to measure, and what to make of a difference.
"""
FIELDS = {"order": int, "title": str, "note": str, "unit": str, "peer": str, "measured": str,
          "machine": str, "rows": list}
# Of what tg-bench writes.
BENCH_FIELDS = {"device": str, "target": str, "measured": str, "limits": dict, "peers": list, "rows": list}
ROW_FIELDS = {"work": str, "machine": str, "tg": (int, float), "peer": (int, float),
              "ratio": (int, float)}


def check(name, table):
    """Raises ValueError if a table does not have the form that the head of this file describes."""
    for field, kind in FIELDS.items():
        if not isinstance(table.get(field), kind):
            raise ValueError("%s: %s must be given, as %s" % (name, field, kind.__name__))
    for unknown in set(table) - set(FIELDS):
        raise ValueError("%s: no field is called %s" % (name, unknown))
    for row in table["rows"]:
        for field, value in row.items():
            if field not in ROW_FIELDS or not isinstance(value, ROW_FIELDS[field]):
                raise ValueError("%s: %s: a row has no such %s" % (name, row.get("work"), field))
        if "work" not in row or ("tg" not in row and "ratio" not in row) or (
                "peer" in row and "tg" not in row):
            raise ValueError("%s: a row has no work, or nothing that was measured" % name)
        if ("peer" in row or "ratio" in row) and not table["peer"]:
            raise ValueError("%s: %s: compared with what?" % (name, row["work"]))
    return table


def number(value):
    """A number with its digits, without an exponent if it is at least 0.001; "" for None."""
    if value is None:
        return ""
    if isinstance(value, int):
        return "{:,}".format(value)
    return "%.2g" % value if abs(value) < 1e-3 else "{:,}".format(value)


def ratio(row):
    if "ratio" in row:
        return str(row["ratio"])
    if "peer" not in row:
        return ""
    value = row["peer"] / row["tg"]
    return "%.0f" % value if value >= 100 else "%.1f" % value if value >= 10 else "%.2f" % value


def seconds(value):
    """A time with three digits and its unit."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size or unit == "us":
            return "%.3g %s" % (value / size, unit)


def render_bench(name, report):
    """The section of a file of tg-bench."""
    for field, kind in BENCH_FIELDS.items():
        if not isinstance(report.get(field), kind):
            raise ValueError("%s: %s must be given, as %s" % (name, field, kind.__name__))
    limits, peers = report["limits"], [peer["name"] for peer in report["peers"]]
    out = ["\n## Operations on %s\n" % report["device"], "\n[tg-bench](../tools/README.md#tg-bench), target %s. "
           % report["target"], "Limits: copy %.1f GB/s, read %.1f GB/s, f32 %.0f GFLOP/s. " % tuple(
               1e-9 * limits[key] for key in ("copy_bytes_per_second", "read_bytes_per_second", "flops_per_second"))]
    if peers:
        out.append("Peers: %s. The ratios are those of the best peer, by turns, and by least times. " % ", ".join(
            "%s %s" % (peer["name"], peer["version"]) for peer in report["peers"]))
    note = report.get("note", "")
    out.append("%sMeasured %s.\n\n" % (note and note + " ", report["measured"]))
    head = ["work", "tg", "spread", "GFLOP/s", "GB/s", "of limit", *peers] + (["ratio", "of least"] if peers else [])
    out += ["| %s |\n" % " | ".join(head), "| %s |\n" % " | ".join(["---"] * len(head))]
    for row in report["rows"]:
        tg, found = row["tg"], row["peers"]
        time = tg["seconds"]
        cells = [row["work"], seconds(time), "%.0f %%" % (100 * tg["spread"]),
                 "%.1f" % (1e-9 * row["operations"] / time) if row["operations"] else "",
                 "%.1f" % (1e-9 * (row["bytes_read"] + row["bytes_written"]) / time),
                 "%.0f %%" % (100 * row["limit_seconds"] / time)]
        cells += [seconds(found[peer]["seconds"]) if peer in found else "" for peer in peers]
        if found:
            best = min(found.values(), key=lambda timing: timing["seconds"])
            least = min(timing["least"] for timing in found.values())
            cells += ["%.2f" % best["ratio"], "%.2f" % (least / tg["least"])]
        elif peers:
            cells += ["", ""]
        out.append("| %s |\n" % " | ".join(cells))
    return "".join(out)


def place(name, table):
    """Where a table comes on the page: those of tg-bench first."""
    return (0 if table.get("tool") == "tg-bench" else table["order"], name)


def render(tables):
    """The page of (name, table) pairs."""
    out = [HEAD]
    for name, table in sorted(tables, key=lambda pair: place(*pair)):
        if table.get("tool") == "tg-bench":
            out.append(render_bench(name, table))
            continue
        check(name, table)
        unit = ", " + table["unit"] if table["unit"] else ""
        out.append("\n## %s\n" % table["title"])
        out.append("\n%s Measured %s.\n" % (table["note"], table["measured"]))
        out.append("\n| work | machine | tg%s | %s | ratio |\n| --- | --- | --- | --- | --- |\n" %
                   (unit, table["peer"] or "peer"))
        for row in table["rows"]:
            out.append("| %s | %s | %s | %s | %s |\n" % (
                row["work"], row.get("machine") or table["machine"] or "any",
                number(row.get("tg")), number(row.get("peer")), ratio(row)))
    return "".join(out)


def read(folder):
    tables = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name)) as source:
                tables.append((name, json.load(source)))
    return tables


if __name__ == "__main__":
    sys.stdout.write(render(read(sys.argv[1])))
