"""Rules for the sentences of documents and comments: the text of a file in, its problems out.

A document is split into paragraphs and list items, without fenced code. Of a source file only the
comments count, and the docstrings of Python; comment lines that follow each other are one text, so
that a phrase is found where it is broken over two lines.

lint_test.py applies the rules to the tree; prose_test.py plants a violation of each.
"""

import ast
import io
import re
import tokenize

MAX_WORDS = 120

# Measured figures belong to docs/benchmarks.md, which is made from data.
FIGURES = {
    "a date": r"\b(?:19|20)\d\d-[01]\d(?:-[0-3]\d)?\b|"
              r"\b(?:[0-3]?\d\.? )?(?:January|February|March|April|June|July|August|September|"
              r"October|November|December) (?:[0-3]?\d, )?20\d\d\b",
    "a processor's model": r"\b(?:[HAVBL](?:100|200|40)S?|T4|P100|K80|MI\d{2,3}X?|[RG]TX ?\d+|"
                           r"Xeon|EPYC|Ryzen|Threadripper|Opteron|Core i[3579]|Skylake|"
                           r"Cascade Lake|Ice Lake|Sapphire Rapids|Haswell|Zen ?[1-5]|Radeon|"
                           r"GeForce|Quadro|Tesla|Adreno \d+|Mali-\w+|Apple M\d|Graviton ?\d?|"
                           r"Snapdragon)\b",
    "milliseconds": r"\b\d[\d.,]* ?(?:ms|msec|milliseconds?)\b",
}
# Words that hide what is meant. The field has terms: docs/glossary.md.
WORDS = {
    "apart": r"\bapart\b",
    "beside": r"\bbeside\b",
    "stand": r"\b(?:stands?|stood|standing)\b(?!-in)",
    "side by side": r"\bside by side\b",
    "room": r"\brooms?\b",
    "of its own": r"\bof (?:its|their) own\b",
    "those that": r"\bthose that\b",
    "so many": r"\bso many\b",
    "as many as": r"\bas many as\b",
    "Of a ...:": r"(?:^|[.:;!?] )Of (?:an?|the) [^.;:]*:",
}
RULES = [(name, re.compile(pattern.replace(" ", r"\s+") if name in WORDS else pattern))
         for table in (FIGURES, WORDS) for name, pattern in table.items()]

CPP = (".h", ".cc", ".c", ".cl", ".def", ".uop")
HASH = (".bzl", ".sh", "BUILD", "WORKSPACE", ".bazelrc")
SOURCES = CPP + HASH + (".py",)

# Strings are matched so that what looks like a comment in them is none.
CPP_TOKEN = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|'
    r"(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL)
LIT_LINE = re.compile(r"^(?://|#)\s*(?:RUN|[A-Z][A-Z0-9-]*(?:-(?:NEXT|NOT|LABEL|SAME|DAG|COUNT-\d+))?):")


def paragraphs(text):
    """Yields (line number, text) of each paragraph, list item, table row and heading outside of code."""
    block, start, fenced = [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        stripped = line.strip()
        is_fence = stripped.startswith("```")
        begins = (is_fence or not stripped or stripped.startswith(("|", "#", "<!--"))
                  or re.match(r"(?:[-*]|\d+\.) ", stripped))
        if begins and block:
            yield start, "\n".join(block)
            block = []
        if is_fence:
            fenced = not fenced
        elif not fenced and stripped:
            if not block:
                start = number
            block.append(line)
            if stripped.startswith(("|", "#")):
                yield start, "\n".join(block)
                block = []


def blank_code(text):
    """`text` with blanks in the place of what it quotes as code and of the targets of links."""
    text = re.sub(r"`[^`]*`", lambda m: " " * len(m.group(0)), text)
    return re.sub(r"(?<=\])\([^)]*\)", lambda m: " " * len(m.group(0)), text)


def cpp_comments(text):
    for match in CPP_TOKEN.finditer(text):
        if match.group("comment"):
            yield text.count("\n", 0, match.start()) + 1, match.group("comment")


def hash_comments(text):
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"^\s*(#.*)|^[^\"'#]*\s(#.*)", line)
        if match and not line.startswith("#!"):
            yield number, match.group(1) or match.group(2)


def python_comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            if ast.get_docstring(node, clean=False):
                yield node.body[0].lineno, node.body[0].value.value


def comments(path, text):
    """Yields (line number, text): comments, those of consecutive lines as one text."""
    if path.endswith(".py"):
        found = list(python_comments(text))
    else:
        found = list((cpp_comments if path.endswith(CPP) else hash_comments)(text))
    block, start, last = [], 0, -1
    for line, comment in sorted(found):
        if LIT_LINE.match(comment):
            continue
        if block and line != last + 1:
            yield start, "\n".join(block)
            block = []
        if not block:
            start = line
        last = line + comment.count("\n")
        block.append("\n".join(re.sub(r"^\s*(?://+|#+|/?\*+/?) ?", "", c) for c in comment.split("\n")))
    if block:
        yield start, "\n".join(block)


def problems(path, text):
    """Returns (line, rule, excerpt) of each violation in a file, in order."""
    is_document = path.endswith(".md")
    out = []
    for start, block in paragraphs(text) if is_document else comments(path, text):
        words = len(block.split())
        is_row = block.lstrip().startswith("|")
        if is_document and not is_row and words > MAX_WORDS:
            out.append((start, "a paragraph of %d words" % words, " ".join(block.split()[:6])))
        plain = blank_code(block)
        for name, pattern in RULES:
            for match in pattern.finditer(plain):
                line = start + plain.count("\n", 0, match.start())
                around = plain[max(0, match.start() - 40):match.end() + 40]
                out.append((line, name, " ".join(around.split())))
    return sorted(out)


def table_lines(text):
    """The lines of a table in a text file, without comments (`# ...`) and empty ones."""
    return [line.strip() for line in text.splitlines()
            if line.strip() and not line.startswith("#")]


def tree_problems(files, exceptions):
    """Returns the problems of a tree, one line each.

    `files`: text by path. `exceptions`: lines `path | excerpt`, in which a word is right; each is
    needed.
    """
    out, used = [], set()
    allowed = [tuple(part.strip() for part in line.split("|", 1)) for line in exceptions]
    for path, text in sorted(files.items()):
        for line, rule, excerpt in problems(path, text):
            match = next((a for a in allowed if a[0] == path and a[1] in excerpt), None)
            if match:
                used.add(match)
            else:
                out.append("%s:%d: %s: %s" % (path, line, rule, excerpt))
    out += ["%s: no such text: %s" % a for a in allowed if a not in used]
    return out
