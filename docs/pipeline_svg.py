"""Draws the pipeline: stages as boxes, passes as arrows between them, by the table of passes/README.md.

    python3 docs/pipeline_svg.py passes/README.md > docs/pipeline.svg

`//docs:pipeline_svg_test` compares; another test compares that table with passes/pipeline.h.
"""

import re
import sys

STAGES = {
    "tensor": ["a graph of tensors"],
    "kernel": ["expressions over", "shapes, scheduled"],
    "lowered": ["loops, addresses,", "work-item ids"],
    "expanded": ["vectors of the", "target's widths"],
    "linear": ["instructions", "in order"],
}
BOX, GAP, TOP, HEIGHT = 120, 72, 10, 100
ROW = re.compile(r"^\| \[(\w+)\]\(\w+\) \| .* \| (\w+) → (\w+)[^|]* \|$", re.MULTILINE)


def passes(table):
    """Yields (pass, stage before, stage after) in order."""
    return ROW.findall(table)


def text(x, y, words, size=12, weight="normal", fill="#24292f", family="sans-serif"):
    return ('<text x="%d" y="%d" font-family="%s" font-size="%d" font-weight="%s" fill="%s" '
            'text-anchor="middle">%s</text>' % (x, y, family, size, weight, fill, words))


def box(x, title, lines, kept, fill):
    out = ['<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="#57606a"/>' %
           (x, TOP, BOX, HEIGHT, fill)]
    middle = x + BOX // 2
    out.append(text(middle, TOP + 22, title, 14, "bold"))
    out += [text(middle, TOP + 42 + 16 * i, line) for i, line in enumerate(lines)]
    if kept:
        out.append(text(middle, TOP + HEIGHT - 10, " ".join("↻ " + name for name in kept), 12,
                        "normal", "#0550ae", "monospace"))
    return out


def arrow(x, label):
    y = TOP + HEIGHT // 2
    end = x + GAP
    return ['<path d="M %d %d H %d" stroke="#57606a" fill="none"/>' % (x, y, end - 6),
            '<path d="M %d %d l -8 -4 v 8 z" fill="#57606a"/>' % (end, y),
            text(x + GAP // 2, y - 8, label, 12, "normal", "#0550ae", "monospace")]


def draw(table):
    """The picture, as SVG."""
    steps = passes(table)
    stages = list(STAGES)
    kept = {stage: [] for stage in stages}
    between = {}
    for name, before, after in steps:
        if before == after:
            kept[before].append(name)
        else:
            between[before, after] = name
    boxes = [(stage, STAGES[stage], kept[stage], "#f6f8fa") for stage in stages]
    boxes.append(("OpenCL C", ["a function for", "each kernel"], [], "#ddf4ff"))
    labels = [between[pair] for pair in zip(stages, stages[1:])] + ["render"]
    width = len(boxes) * BOX + len(labels) * GAP + 20
    bar = TOP + HEIGHT + 22
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d">' %
           (width, bar + 44, width),
           '<rect width="100%" height="100%" fill="white"/>']
    x = 10
    for i, (title, lines, names, fill) in enumerate(boxes):
        out += box(x, title, lines, names, fill)
        x += BOX
        if i < len(labels):
            out += arrow(x, labels[i])
            x += GAP
    ends = len(stages) * BOX + (len(stages) - 1) * GAP
    out.append('<rect x="10" y="%d" width="%d" height="28" rx="6" fill="#fff8c5" stroke="#d4a72c"/>' %
               (bar, ends))
    out.append(text(10 + ends // 2, bar + 19,
                    "each stage is text: read back, verified, interpreted, compared"))
    out.append("</svg>")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        sys.stdout.write(draw(source.read()))
