"""Compares tg's tokenizers with llama.cpp's on the same vocabularies and texts.

    compare.py --encode=bazel-bin/tools/tokenizer/encode TEXTS VOCABULARY.gguf...

TEXTS is a file of corpus.py; the folder of a GGUF file also has its text, by vocabularies.py. Prints how many texts have the
same ids, with special tokens and without, and the first texts that do not. Needs the package xllamacpp.
"""

import argparse
import ast
import subprocess
import sys
import time

import llama


def unquote(line):
    """The bytes of a quoted string."""
    out, i, text = bytearray(), 1, line[:-1]
    while i < len(text):
        if text[i:i + 1] != b"\\":
            out += text[i:i + 1]
            i += 1
        elif text[i + 1:i + 2] == b"x":
            out.append(int(text[i + 2:i + 4], 16))
            i += 4
        else:
            out += {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(text[i + 1:i + 2], text[i + 1:i + 2])
            i += 2
    return bytes(out)


def run_encode(arguments, path, options):
    command = [arguments.encode, path.replace(".gguf", ".txt"), arguments.texts, *options]
    start = time.monotonic()
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.stderr and "come back" not in run.stderr:
        raise RuntimeError(run.stderr)
    lost = run.stderr.count("does not come back")
    return [[int(i) for i in line.split()] for line in run.stdout.split("\n")[:-1]], time.monotonic() - start, lost


def compare(arguments, path, texts):
    vocabulary = llama.Vocabulary(path)
    failed = False
    for options in ([], ["--parse-special", "--add-special"]):
        ours, seconds, lost = run_encode(arguments, path, options + ["--round-trip"])
        if len(ours) != len(texts):
            raise RuntimeError("%d lines for %d texts" % (len(ours), len(texts)))
        different = []
        for number, (text, ids) in enumerate(zip(texts, ours), 1):
            theirs = vocabulary.encode(text, "--add-special" in options, "--parse-special" in options)
            if theirs != ids:
                different.append((number, theirs, ids))
        print("%s %s: %d of %d texts equal; %d do not come back; %.1f s" % (
            path, " ".join(options) or "plain", len(texts) - len(different), len(texts), lost, seconds))
        for number, theirs, ids in different[:arguments.show]:
            print("  line %d: %r\n    llama.cpp %s\n    tg        %s" % (number, texts[number - 1][:80], theirs[:40], ids[:40]))
        failed |= bool(different)
    ends = run_encode(arguments, path, ["--end-of-generation"])[0][0]
    if ends != vocabulary.end_of_generation():
        print("  end of generation: llama.cpp %s, tg %s" % (vocabulary.end_of_generation(), ends))
        failed = True
    return failed


def main():
    parser = argparse.ArgumentParser(description=ast.get_docstring(ast.parse(open(__file__).read())).split("\n")[0])
    parser.add_argument("--encode", required=True)
    parser.add_argument("--show", type=int, default=3, help="how many texts that differ are shown")
    parser.add_argument("texts")
    parser.add_argument("vocabularies", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.texts, "rb") as lines:
        texts = [unquote(line) for line in lines.read().split(b"\n")[:-1]]
    failed = [compare(arguments, path, texts) for path in arguments.vocabularies]
    return any(failed)


if __name__ == "__main__":
    sys.exit(main())
