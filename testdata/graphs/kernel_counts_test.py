"""How many kernels each graph becomes, with tinygrad's figures, and each op of ops/. A count that
rises fails.

    kernel_counts_test.py TG_OPT FOLDER [--write]

FOLDER/kernel_counts.md holds the counts; --write makes it anew.
"""

import glob
import lzma
import os
import re
import subprocess
import sys
import unittest

TARGETS = ("cl-cpu", "cl-gpu", "cl-nvidia-sm90")
# Kernels of tinygrad v0.10.3, v0.13.0 and v0.14.0, where they were counted.
TINYGRAD = {
    "resnet18": (23, None, 19), "resnet50": (56, 51, 51), "effnet_b2": (163, 140, 140),
    "vit": (209, 197, 198), "bert": (215, 196, None), "llama_prefill": (14, None, 10),
    "llama_decode": (6, None, 4), "unet": (839, 759, None), "train_mnist": (28, None, None),
}
HEAD = """# Kernels of each graph

Kernels that are launched in a run, and different ones among them, for three targets, next to tinygrad's own: v0.10.3's
of this graph, the newer versions' of the same model built with them. Made by `kernel_counts_test.py --write`, compared by the test.

| graph | tinygrad v0.10.3 | v0.13.0 | v0.14.0 | """


def count(text, target):
    result = subprocess.run(
        [TG_OPT, "--pass=kernelize", f"--target={target}", "--crash-reproducer=none"], input=text,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert result.returncode == 0, result.stderr.decode()
    module = result.stdout.decode()
    return (len(re.findall(r" = kernel @", module)), len(re.findall(r"^kernel @", module, re.M)))


def cell(text, target):
    launches, different = count(text, target)
    return f"{launches}, {different} different"


def table():
    lines = [HEAD + " | ".join(TARGETS) + " |", "| --- " * (4 + len(TARGETS)) + "|"]
    for name, counts in TINYGRAD.items():
        with lzma.open(os.path.join(FOLDER, name + ".repr.xz")) as file:
            text = file.read()
        cells = [name] + [str(n) if n else "" for n in counts]
        cells += [cell(text, target) for target in TARGETS]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "The parts that models are made of, as tinygrad v0.10.3 spells them (`ops/`). It makes 3 kernels of",
              "softmax and of layer_norm, 2 of rms_norm, 5 of sdpa:", "",
              "| op | " + " | ".join(TARGETS) + " |", "| --- " * (1 + len(TARGETS)) + "|"]
    for path in sorted(glob.glob(os.path.join(FOLDER, "ops", "*.repr"))):
        with open(path, "rb") as file:
            text = file.read()
        cells = [os.path.basename(path)[:-len(".repr")]]
        cells += [str(count(text, target)[0]) for target in TARGETS]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


class KernelCounts(unittest.TestCase):
    maxDiff = None

    def test_every_graph_is_counted(self):
        names = {os.path.basename(p)[:-len(".repr.xz")]
                 for p in glob.glob(os.path.join(FOLDER, "*.repr.xz"))}
        self.assertEqual(names, set(TINYGRAD))

    def test_counts(self):
        with open(os.path.join(FOLDER, "kernel_counts.md")) as file:
            self.assertEqual(file.read(), table())


TG_OPT, FOLDER = sys.argv[1:3]
if __name__ == "__main__":
    if sys.argv[3:] == ["--write"]:
        with open(os.path.join(FOLDER, "kernel_counts.md"), "w") as file:
            file.write(table())
    else:
        unittest.main(argv=sys.argv[:1])
