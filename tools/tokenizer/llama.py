"""Vocabularies of GGUF files through llama.cpp's C interface, which the package xllamacpp exports."""

import ctypes
import glob
import importlib.util
import os

# The offset of that flag in llama_model_params.
VOCAB_ONLY = 72
MOST_TOKENS = 1 << 20


class Params(ctypes.Structure):
    # Its size is not known: what is behind it is never read.
    _fields_ = [("data", ctypes.c_ubyte * 256)]


def load_library():
    folder = os.path.dirname(importlib.util.find_spec("xllamacpp").origin)
    lib = ctypes.CDLL(glob.glob(os.path.join(folder, "*.so"))[0])
    pointer, integer, boolean = ctypes.c_void_p, ctypes.c_int32, ctypes.c_bool
    lib.llama_model_default_params.restype = Params
    lib.llama_model_load_from_file.restype = pointer
    lib.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Params]
    lib.llama_model_get_vocab.restype = pointer
    lib.llama_model_get_vocab.argtypes = [pointer]
    lib.llama_model_free.argtypes = [pointer]
    lib.llama_tokenize.argtypes = [pointer, ctypes.c_char_p, integer, ctypes.POINTER(integer), integer, boolean, boolean]
    lib.llama_vocab_is_eog.restype = boolean
    lib.llama_vocab_is_eog.argtypes = [pointer, integer]
    lib.llama_vocab_n_tokens.argtypes = [pointer]
    return lib


LIBRARY = load_library()
LOG = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
SILENT = LOG(lambda level, text, data: None)
LIBRARY.llama_log_set(SILENT, None)
LIBRARY.llama_backend_init()


class Vocabulary:
    def __init__(self, path):
        params = LIBRARY.llama_model_default_params()
        if params.data[VOCAB_ONLY] != 0:
            raise RuntimeError("llama_model_params has changed: where is vocab_only?")
        params.data[VOCAB_ONLY] = 1
        self.model = LIBRARY.llama_model_load_from_file(path.encode(), params)
        if not self.model:
            raise RuntimeError("llama.cpp does not load " + path)
        self.vocabulary = LIBRARY.llama_model_get_vocab(self.model)
        self.tokens = (ctypes.c_int32 * MOST_TOKENS)()

    def encode(self, text, add_special, parse_special):
        count = LIBRARY.llama_tokenize(self.vocabulary, text, len(text), self.tokens, MOST_TOKENS, add_special, parse_special)
        if count < 0:
            raise RuntimeError("too many tokens")
        return self.tokens[:count]

    def end_of_generation(self):
        count = LIBRARY.llama_vocab_n_tokens(self.vocabulary)
        return [t for t in range(count) if LIBRARY.llama_vocab_is_eog(self.vocabulary, t)]
