"""Every listing of the documents that names a file is that file, or lines of it.

A listing is a comment `<!-- file: PATH -->` and a fenced block, which must be in the file line for
line, in order; a line `...` in the block skips lines. `python3 docs/listings_test.py --write` fills in
the blocks that skip none.
"""
import pathlib
import re
import sys
import unittest

MARK = re.compile(r"^<!-- file: (\S+) -->$")
ROOT = pathlib.Path(".")


def blocks(text):
    """Yields (path, first line of the block, lines of the block or None)."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = MARK.match(line)
        if not match:
            continue
        if number + 1 < len(lines) and lines[number + 1].startswith("```"):
            end = number + 2
            while not lines[end].startswith("```"):
                end += 1
            yield match.group(1), number + 1, lines[number + 2:end]
        else:
            yield match.group(1), number + 1, None


def stands_in(listing, source):
    """Whether the runs of `listing` between lines `...` are in `source`, in order."""
    at = 0
    run = []
    for line in listing + ["..."]:
        if line.strip() != "...":
            run.append(line)
            continue
        while run and source[at:at + len(run)] != run:
            at += 1
            if at > len(source):
                return False
        at += len(run)
        run = []
    return True


def write(path):
    """Fills in every listing that leaves out no lines."""
    lines = path.read_text().split("\n")
    out = []
    at = 0
    while at < len(lines):
        out.append(lines[at])
        match = MARK.match(lines[at])
        at += 1
        if not match:
            continue
        body = (ROOT / match.group(1)).read_text().rstrip("\n").split("\n")
        if lines[at].startswith("```"):
            end = lines.index("```", at + 1)
            if "..." in lines[at + 1:end]:
                continue
            at = end + 1
        out += ["```"] + body + ["```"]
    path.write_text("\n".join(out))


class Listings(unittest.TestCase):
    def test_listings_are_the_files_they_name(self):
        count = 0
        for path in sorted(ROOT.glob("docs/**/*.md")) + [ROOT / "README.md"]:
            for name, number, listing in blocks(path.read_text()):
                with self.subTest(f"{path}:{number}"):
                    self.assertIsNotNone(listing, f"{path}:{number}: no block follows")
                    source = (ROOT / name).read_text().rstrip("\n").split("\n")
                    self.assertTrue(stands_in(listing, source),
                                    f"{path}:{number}: the listing is not in {name}")
                count += 1
        self.assertGreater(count, 5)

    def test_a_changed_line_is_noticed(self):
        self.assertTrue(stands_in(["a", "...", "c"], ["a", "b", "c"]))
        self.assertFalse(stands_in(["a", "c"], ["a", "b", "c"]))
        self.assertFalse(stands_in(["a", "...", "d"], ["a", "b", "c"]))


if __name__ == "__main__" and "--write" in sys.argv:
    for document in sorted(ROOT.glob("docs/**/*.md")) + [ROOT / "README.md"]:
        write(document)
