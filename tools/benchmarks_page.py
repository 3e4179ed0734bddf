"""Makes docs/benchmarks.md of the measurements in docs/benchmarks/*.json.

    python3 tools/benchmarks_page.py docs/benchmarks > docs/benchmarks.md

A file is one table. Its fields: `order` (of the tables on the page), `title`, `note` (what is measured
and how, in a sentence or two), `unit`, `peer` (what tg is compared with), `measured` (when), `machine`,
and `rows`. A row has `work`, `tg` and `peer` in the table's unit, and a `machine` where the table has
none or another one. The ratio is peer / tg: above 1 tg takes less. A row without both numbers may give
a `ratio`.
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


def render(tables):
    """The page of (name, table) pairs."""
    out = [HEAD]
    for name, table in sorted(tables, key=lambda pair: (pair[1]["order"], pair[0])):
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
