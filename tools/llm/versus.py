#!/usr/bin/env python3
"""Compares the logits and the greedy text of tg, of tools/llm/reference.py, and of llama.cpp.

    pip install gguf numpy xllamacpp
    bazel build //tools/llm:logits
    tools/llm/versus.py bazel-bin/tools/llm/logits model.gguf text.txt --tokens=500 --greedy=200
"""

import argparse
import ctypes
import os
import subprocess
import tempfile

import numpy as np
import reference
from llama import LIBRARY, Llama


def tokens_of(llama, text, count):
    """The first tokens of a text."""
    LIBRARY.llama_tokenize.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32,
                                       ctypes.c_void_p, ctypes.c_int32, ctypes.c_bool, ctypes.c_bool]
    tokens = (ctypes.c_int32 * (len(text) + 8))()
    vocabulary = LIBRARY.llama_model_get_vocab(llama.model)
    n = LIBRARY.llama_tokenize(vocabulary, text, len(text), tokens, len(tokens), True, True)
    return tokens[:min(n, count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="//tools/llm:logits")
    parser.add_argument("model")
    parser.add_argument("text", help="a file")
    parser.add_argument("--tokens", type=int, default=500)
    parser.add_argument("--prompt", type=int, default=32, help="tokens before the greedy text")
    parser.add_argument("--greedy", type=int, default=200)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    llama = Llama(args.model)
    with open(args.text, "rb") as file:
        tokens = tokens_of(llama, file.read(), args.tokens)
    model = reference.Model(args.model)
    expected = reference.logits(model, tokens)
    with tempfile.TemporaryDirectory() as folder:
        def ours(tokens, greedy, cache):
            path = os.path.join(folder, "x")
            np.save(path + ".npy", np.array(tokens, np.int32))
            subprocess.run([args.tool, args.model, path + ".npy", path, str(greedy), cache,
                            args.device], check=True)
            return np.load(path + ".logits.npy"), np.load(path + ".tokens.npy").tolist()

        for cache in ("f32", "f16"):
            rows, _ = ours(tokens, 0, cache)
            error = np.abs(rows[:-1] - expected)
            last = np.abs(rows[-1] - expected[-1]).max()
            print(f"{len(tokens)} tokens, cache {cache}: largest error {error.max():.3g} of logits up to "
                  f"{np.abs(expected).max():.3g}, mean {error.mean():.3g}; in chunks {last:.3g}; the "
                  f"likeliest token is the same {(rows[:-1].argmax(-1) == expected.argmax(-1)).mean():.4f}")
        llama.clear()
        theirs = np.stack([llama.append([t]) for t in tokens])
        error = np.abs(theirs - expected)
        print(f"llama.cpp: largest error {error.max():.3g}, mean {error.mean():.3g}")

        prompt = tokens[:args.prompt]
        rows, made = ours(prompt, args.greedy, "f16")
    expected = reference.logits(model, prompt + made)[len(prompt) - 1:]
    for i, token in enumerate(made):
        best = int(expected[i].argmax())
        if best != token:
            gap = expected[i][best] - expected[i][token]
            print(f"greedy text: the reference's differs at token {i}, whose logits differ by {gap:.3g}")
            break
    else:
        print(f"greedy text: {len(made)} tokens are the reference's")
    llama.clear()
    logits = llama.append(prompt)
    for i, token in enumerate(made):
        if int(logits.argmax()) != token:
            print(f"greedy text: llama.cpp's differs at token {i}")
            break
        logits = llama.append([token])
    else:
        print(f"greedy text: {len(made)} tokens are llama.cpp's")


if __name__ == "__main__":
    main()
