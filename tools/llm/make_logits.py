#!/usr/bin/env python3
"""Writes the small models that //tools/llm:logits_test runs, their logits in float64, and states for embeddings.

    pip install gguf numpy
    tools/llm/make_logits.py testdata/gguf
"""

import os
import subprocess
import sys

import numpy as np
from reference import Model, logits, states

TOKENS = 48
# File: arguments of make_model.py.
MODELS = {
    "llama": ["--architecture=llama", "--type=Q8_0", "--rope-factors"],
    "mixtral": ["--architecture=llama-moe", "--type=Q4_1"],
    "qwen2": ["--architecture=qwen2", "--type=Q4_0", "--rope-scaling=yarn"],
    "qwen3": ["--architecture=qwen3", "--type=Q5_0", "--rope-scaling=linear"],
    "qwen3moe": ["--architecture=qwen3moe", "--type=IQ4_NL"],
    "gemma2": ["--architecture=gemma2", "--type=Q5_1", "--layers=3"],
    "gemma3": ["--architecture=gemma3", "--type=MXFP4", "--layers=7"],
    "phi3": ["--architecture=phi3", "--type=BF16", "--rope-factors"],
    "longrope": ["--architecture=phi3", "--type=F16", "--rope-factors", "--rope-scaling=longrope",
                 "--context=128"],  # 32 tokens are short
}
VOCABULARY = 64
# Of these models //tools/llm:embed_test knows the states of all tokens; whether the text is a long one.
STATES = {"llama": False, "gemma3": False, "longrope": True, "qwen3moe": False}


def token_at(i):
    return (i * 37 + i * i * 11 + 5) % VOCABULARY


def main():
    folder = sys.argv[1]
    maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "make_model.py")
    for name, arguments in MODELS.items():
        model = os.path.join(folder, name + ".gguf")
        subprocess.run([sys.executable, maker, *arguments, f"--vocabulary={VOCABULARY}", model],
                       check=True)
        tokens = [token_at(i) for i in range(TOKENS)]
        rows = logits(Model(model), tokens)
        np.save(os.path.join(folder, name + ".npy"), rows.astype(np.float32))
        if name in STATES:
            np.save(os.path.join(folder, name + ".states.npy"),
                    states(Model(model), tokens, STATES[name]).astype(np.float32))


if __name__ == "__main__":
    main()
