"""Rules for the words of names in C++: the text of a file in, its problems out.

A name is split into its words: `bytes_apart` and `BytesApart` have the same two. Comments are prose
(prose.py), strings may be file formats or messages, and the names of tests are sentences.

lint_test.py applies the rules to the tree; identifiers_test.py plants a violation of each.
"""

import re

import prose

CPP = (".h", ".cc", ".c", ".cl", ".def")

# Words that hide what is meant, and what to say instead. The field has terms: docs/glossary.md.
WORDS = {
    "apart": "stride, distance, disjoint",
    "beside": "adjacent, along",
    "stand": "position",
    "stands": "position",
    "stood": "position",
    "standing": "position",
    "room": "capacity, or a predicate's name",
    "rooms": "capacity, or a predicate's name",
    "kept": "staged, retained, remaining",
}
# In these folders more words are refused.
FOLDER_WORDS = {
    "passes/kernelize/": {"keeps": "stages"},
}

# The second argument is the name of a test; the first one may be a class.
TEST_NAME = re.compile(r"(?m)^(\s*TEST(?:_F|_P)?\(\s*\w+,\s*)(\w+)")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def words(identifier):
    """The words of a name in snake_case or CamelCase, in lower case."""
    return [word.lower() for word in WORD.findall(identifier)]


def problems(path, text):
    """Returns (line, word, name) of each refused word in a C++ file, in order."""
    refused = dict(WORDS)
    for folder, more in FOLDER_WORDS.items():
        if path.startswith(folder):
            refused.update(more)
    code = prose.CPP_TOKEN.sub(lambda match: blank(match.group(0)), text)
    code = TEST_NAME.sub(lambda match: match.group(1) + blank(match.group(2)), code)
    return [(number, word, name)
            for number, line in enumerate(code.split("\n"), 1)
            for name in IDENTIFIER.findall(line)
            for word in words(name) if word in refused]


def tree_problems(files):
    """Returns the problems of a tree, one line each. `files`: text by path."""
    instead = dict(WORDS)
    for more in FOLDER_WORDS.values():
        instead.update(more)
    return ["%s:%d: %s: not '%s'; better: %s (docs/glossary.md)"
            % (path, line, name, word, instead[word])
            for path, text in sorted(files.items()) for line, word, name in problems(path, text)]
