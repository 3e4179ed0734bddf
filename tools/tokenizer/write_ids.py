"""Writes the ids that llama.cpp gives the texts of frontend/tokenizer/testdata, for tokenizer_test.

    write_ids.py FOLDER

FOLDER is that of train.py. Copies its vocabularies bpe.txt, spm.txt and wpm.txt, writes texts.txt, and a file of ids
for each variant: the vocabulary's file, a field that differs, and a line of ids for each text. Needs the package
xllamacpp.
"""

import os
import shutil
import sys

import corpus
import llama

TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../frontend/tokenizer/testdata")
PRE = ["default", "deepseek-coder", "deepseek-v3", "falcon", "gpt-2", "gpt-4o", "llama-bpe", "qwen2", "smollm", "tekken", "viking"]
OTHERS = {"spm": ("spm.txt", ""), "spm-no-prefix": ("spm.txt", "add_space_prefix 0\nadd_eos 1"), "spm-phi3": ("spm.txt", "name Phi-3"),
          "wpm": ("wpm.txt", ""), "wpm-cased": ("wpm.txt", "lowercase 0")}
COUNT = 120


def main():
    folder = sys.argv[1]
    for name in ("bpe", "spm", "wpm"):
        shutil.copy(os.path.join(folder, name + ".txt"), TESTDATA)
    texts = corpus.make(COUNT, seed=11)
    with open(os.path.join(TESTDATA, "texts.txt"), "w", encoding="utf-8") as out:
        out.write("".join(corpus.quote(text) + "\n" for text in texts))
    variants = {name: ("bpe.txt", "pre " + name, "bpe-" + name) for name in PRE}
    variants.update({name: (*variant, name) for name, variant in OTHERS.items()})
    os.makedirs(os.path.join(TESTDATA, "ids"), exist_ok=True)
    for name, (file_name, field, gguf) in variants.items():
        vocabulary = llama.Vocabulary(os.path.join(folder, gguf + ".gguf"))
        with open(os.path.join(TESTDATA, "ids", name), "w") as out:
            out.write("%s\n%s\n" % (file_name, field.replace("\n", ";")))
            for text in texts:
                out.write(" ".join(map(str, vocabulary.encode(text, True, True))) + "\n")


if __name__ == "__main__":
    main()
