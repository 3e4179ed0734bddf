#!/usr/bin/env python3
"""Runs a model through llama.cpp, by the C interface that the package xllamacpp exports.

    pip install xllamacpp numpy
    tools/llm/llama.py model.gguf --bench
    tools/llm/llama.py model.gguf --tokens=1,2,3 --greedy=32
"""

import argparse
import ctypes
import glob
import importlib.util
import os
import statistics
import time

import numpy as np


class Params(ctypes.Structure):
    # Larger than the library's structures, which are passed by value: what is behind is not read.
    _fields_ = [("data", ctypes.c_ubyte * 512)]


class Batch(ctypes.Structure):
    _fields_ = [("n_tokens", ctypes.c_int32)] + [
        (name, ctypes.c_void_p) for name in ("token", "embd", "pos", "n_seq_id", "seq_id", "logits")]


def load_library():
    folder = os.path.dirname(importlib.util.find_spec("xllamacpp").origin)
    lib = ctypes.CDLL(glob.glob(os.path.join(folder, "*.so"))[0])
    pointer, integer = ctypes.c_void_p, ctypes.c_int32
    for name, result, arguments in (
            ("llama_model_default_params", Params, []),
            ("llama_context_default_params", Params, []),
            ("llama_model_load_from_file", pointer, [ctypes.c_char_p, Params]),
            ("llama_init_from_model", pointer, [pointer, Params]),
            ("llama_model_get_vocab", pointer, [pointer]),
            ("llama_vocab_n_tokens", integer, [pointer]),
            ("llama_set_n_threads", None, [pointer, integer, integer]),
            ("llama_batch_get_one", Batch, [pointer, integer]),
            ("llama_decode", integer, [pointer, Batch]),
            ("llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), [pointer, integer]),
            ("llama_get_memory", pointer, [pointer]),
            ("llama_memory_clear", None, [pointer, ctypes.c_bool])):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


LIBRARY = load_library()
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
SILENT = LOG(lambda level, text, data: None)
LIBRARY.llama_log_set(SILENT, None)
LIBRARY.llama_backend_init()


class Llama:
    """A model and one text."""

    def __init__(self, path, threads=2, context=4096):
        self.model = LIBRARY.llama_model_load_from_file(
            path.encode(), LIBRARY.llama_model_default_params())
        params = LIBRARY.llama_context_default_params()
        ctypes.cast(ctypes.byref(params), ctypes.POINTER(ctypes.c_uint32))[0] = context
        self.context = LIBRARY.llama_init_from_model(self.model, params)
        if not self.context:
            raise RuntimeError("llama.cpp does not load " + path)
        LIBRARY.llama_set_n_threads(self.context, threads, threads)
        self.vocabulary = LIBRARY.llama_vocab_n_tokens(LIBRARY.llama_model_get_vocab(self.model))

    def append(self, tokens):
        """The logits of what follows."""
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        batch = LIBRARY.llama_batch_get_one(ctypes.addressof(array), len(tokens))
        status = LIBRARY.llama_decode(self.context, batch)
        if status != 0:
            raise RuntimeError(f"llama_decode: {status}")
        return np.ctypeslib.as_array(LIBRARY.llama_get_logits_ith(self.context, -1),
                                     (self.vocabulary,)).copy()

    def clear(self):
        """Begins a new text."""
        LIBRARY.llama_memory_clear(LIBRARY.llama_get_memory(self.context), True)


def bench(llama, runs):
    """Rates as llama-bench counts them."""
    rng = np.random.default_rng(1)
    for name, count, step in (("pp512", 512, 512), ("tg128", 128, 1)):
        rates = []
        for _ in range(runs + 1):
            tokens = rng.integers(0, llama.vocabulary, count).tolist()
            llama.clear()
            begin = time.perf_counter()
            for i in range(0, count, step):
                llama.append(tokens[i:i + step])
            rates.append(count / (time.perf_counter() - begin))
        print(f"{name}  {statistics.mean(rates[1:]):.2f} ± {statistics.stdev(rates[1:]):.2f} tokens/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", help="numbers, separated by commas")
    parser.add_argument("--greedy", type=int, default=0, help="tokens to add")
    args = parser.parse_args()
    llama = Llama(args.model, args.threads)
    if args.bench:
        bench(llama, args.runs)
    if args.tokens:
        logits = llama.append([int(t) for t in args.tokens.split(",")])
        made = []
        for _ in range(args.greedy):
            made.append(int(logits.argmax()))
            logits = llama.append(made[-1:])
        print(",".join(map(str, made)))


if __name__ == "__main__":
    main()
