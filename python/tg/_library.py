"""The functions of libtg.so.1 (include/tg/tg.h) by ctypes, and their errors as exceptions."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, TypeVar

MAX_RANK = 16
API_VERSION = 4


class Error(RuntimeError):
    """What tg says is wrong. For a text, the message has the line and a caret below the column."""

    status = 0


class InvalidArgument(Error, ValueError):
    """An argument, a model or a text is wrong."""


class NotFound(Error, LookupError):
    """There is no such file, name or device."""


class FailedPrecondition(Error):
    """A call comes too early: an input was not given, say."""


class Unimplemented(Error, NotImplementedError):
    """tg has no such operator, type or form."""


class ResourceExhausted(Error, MemoryError):
    """Memory, or a disk, is full."""


class Closed(Error):
    """The model was closed."""


class Cancelled(Error):
    """A progress function has ended a load."""


class InternalError(Error):
    """A fault of tg or of a driver."""


_ERRORS = {1: InvalidArgument, 2: NotFound, 3: FailedPrecondition, 4: Unimplemented, 5: ResourceExhausted,
           6: Closed, 7: Cancelled, 8: InternalError}


_Self = TypeVar("_Self", bound="Closing")


class Closing:
    """What is closed by a call, at the end of a with block, or when nothing refers to it."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except (Closed, AttributeError, TypeError):  # the interpreter ends
            pass


class Tensor(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_int32), ("rank", c_uint32),
                ("shape", c_int64 * MAX_RANK), ("data", c_void_p), ("bytes", c_size_t), ("lend", c_int32),
                ("cl_mem", c_void_p)]


Progress = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_char_p, c_double)


class LoadOptions(Structure):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("format", c_char_p), ("path", c_char_p),
                ("size_names", POINTER(c_char_p)), ("size_values", POINTER(c_int64)), ("num_sizes", c_size_t),
                ("max_names", POINTER(c_char_p)), ("max_values", POINTER(c_int64)), ("num_maxes", c_size_t),
                ("inputs", POINTER(Tensor)), ("num_inputs", c_size_t), ("profile", c_int32), ("float16", c_int32),
                ("progress", Progress), ("progress_context", c_void_p), ("cl_context", c_void_p), ("cl_queue", c_void_p)]


class TensorInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("text", c_char_p), ("type", c_int32), ("role", c_int32),
                ("rank", c_uint32), ("has_contents", c_int32), ("min_shape", c_int64 * MAX_RANK),
                ("max_shape", c_int64 * MAX_RANK)]


class VariableInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("min", c_int64), ("max", c_int64)]


class KernelInfo(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("what", c_char_p), ("schedule", c_char_p),
                ("source", c_char_p), ("device", c_char_p), ("seconds", c_double), ("is_copy", c_int32),
                ("depends_on_input", c_int32)]


class OptOptions(Structure):
    _fields_ = [("size", c_size_t), ("passes", c_char_p), ("emit", c_char_p), ("format", c_char_p),
                ("target", c_char_p), ("path", c_char_p)]


class LmOptions(Structure):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("context", c_int64), ("chunk", c_int64),
                ("cache_f32", c_int32), ("progress", Progress), ("progress_context", c_void_p),
                ("embeddings", c_int32)]


class LmInfo(Structure):
    _fields_ = [("size", c_size_t), ("context", c_int64), ("vocabulary", c_int64), ("length", c_int64),
                ("weight_bytes", c_int64), ("has_chat_template", c_int32), ("pooling", c_int32),
                ("embedding_width", c_int64)]


class EmbedOptions(Structure):
    _fields_ = [("size", c_size_t), ("pooling", c_int32), ("raw", c_int32)]


class Message(Structure):
    _fields_ = [("size", c_size_t), ("role", c_char_p), ("content", c_char_p)]


Show = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_char_p, c_size_t)


class GenerateOptions(Structure):
    _fields_ = [("size", c_size_t), ("max_tokens", c_int64), ("temperature", c_double), ("top_k", c_int64),
                ("top_p", c_double), ("min_p", c_double), ("repeat_penalty", c_double), ("repeat_window", c_int64),
                ("seed", c_uint64), ("stops", POINTER(c_char_p)), ("num_stops", c_size_t), ("show", Show),
                ("show_context", c_void_p)]


class Reply(Structure):
    _fields_ = [("size", c_size_t), ("end", c_int32), ("prompt_tokens", c_int64), ("reused_tokens", c_int64),
                ("tokens", c_int64), ("prompt_seconds", c_double), ("decode_seconds", c_double)]


# Handles are structs of one 64-bit number, which are passed as the number is.
_MODEL = _TEXT = _LM = c_uint64

# Every function returns a status, but for the first three.
_FUNCTIONS = {
    "tg_api_version": (), "tg_version": (), "tg_error": (),
    "tg_devices": (POINTER(_TEXT),),
    "tg_set_threads": (c_int32,),
    "tg_text_get": (_TEXT, POINTER(c_void_p), POINTER(c_size_t)),
    "tg_text_close": (_TEXT,),
    "tg_load": (c_char_p, POINTER(LoadOptions), POINTER(_MODEL)),
    "tg_load_memory": (c_char_p, c_size_t, POINTER(LoadOptions), POINTER(_MODEL)),
    "tg_close": (_MODEL,),
    "tg_compile": (c_char_p, POINTER(LoadOptions), c_char_p),
    "tg_compile_memory": (c_char_p, c_size_t, POINTER(LoadOptions), c_char_p),
    "tg_count": (_MODEL, c_int32, POINTER(c_size_t)),
    "tg_info": (_MODEL, c_int32, c_size_t, POINTER(TensorInfo)),
    "tg_count_variables": (_MODEL, POINTER(c_size_t)),
    "tg_variable": (_MODEL, c_size_t, POINTER(VariableInfo)),
    "tg_set_variable": (_MODEL, c_char_p, c_int64),
    "tg_count_graphs": (_MODEL, POINTER(c_size_t)),
    "tg_graph": (_MODEL, c_size_t, POINTER(c_char_p)),
    "tg_set": (_MODEL, POINTER(Tensor)),
    "tg_run": (_MODEL, c_char_p),
    "tg_get": (_MODEL, POINTER(Tensor)),
    "tg_call": (_MODEL, c_char_p, POINTER(Tensor), c_size_t, POINTER(Tensor), c_size_t),
    "tg_count_kernels": (_MODEL, c_char_p, POINTER(c_size_t)),
    "tg_kernel": (_MODEL, c_char_p, c_size_t, POINTER(KernelInfo)),
    "tg_report": (_MODEL, c_int32, POINTER(_TEXT)),
    "tg_lm_open": (c_char_p, POINTER(LmOptions), POINTER(_LM)),
    "tg_lm_close": (_LM,),
    "tg_lm_get_info": (_LM, POINTER(LmInfo)),
    "tg_lm_tokenize": (_LM, c_char_p, c_size_t, c_int32, POINTER(c_int32), POINTER(c_size_t)),
    "tg_lm_detokenize": (_LM, POINTER(c_int32), c_size_t, POINTER(_TEXT)),
    "tg_lm_append": (_LM, POINTER(c_int32), c_size_t, c_void_p, c_size_t),
    "tg_lm_truncate": (_LM, c_int64),
    "tg_lm_generate": (_LM, c_char_p, c_size_t, POINTER(GenerateOptions), POINTER(_TEXT), POINTER(Reply)),
    "tg_lm_chat": (_LM, POINTER(Message), c_size_t, POINTER(GenerateOptions), POINTER(_TEXT), POINTER(Reply)),
    "tg_lm_embed": (_LM, c_char_p, c_size_t, POINTER(EmbedOptions), c_void_p, c_size_t),
    "tg_lm_cancel": (_LM,),
    "tg_opt": (c_char_p, c_size_t, POINTER(OptOptions), POINTER(_TEXT)),
}


def _open():
    path = os.environ.get("TG_LIBRARY") or os.path.join(os.path.dirname(__file__), "lib", "libtg.so.1")
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("tg's library cannot be opened: %s; TG_LIBRARY can name it" % error) from None
    for name, types in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.argtypes = types
        function.restype = c_int32
    loaded.tg_api_version.restype = c_uint32
    loaded.tg_version.restype = loaded.tg_error.restype = c_char_p
    if loaded.tg_api_version() < API_VERSION:
        raise ImportError("%s is older than this package" % path)
    return loaded


library = _open()


def raise_error(status: int) -> None:
    """Raises what the last call of this thread has said."""
    error = _ERRORS.get(status, InternalError)(library.tg_error().decode(errors="replace"))
    error.status = status
    raise error


def check(status: int) -> None:
    if status:
        raise_error(status)


def encode(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)


def take_text(handle: c_uint64) -> str:
    """The text behind a handle, which is closed."""
    data, size = c_void_p(), c_size_t()
    check(library.tg_text_get(handle, ctypes.byref(data), ctypes.byref(size)))
    text = ctypes.string_at(data, size.value).decode(errors="replace")
    check(library.tg_text_close(handle))
    return text


def count(function, *arguments) -> int:
    number = c_size_t()
    check(function(*arguments, ctypes.byref(number)))
    return number.value


def new(kind):
    """A struct whose size is set."""
    made = kind()
    made.size = ctypes.sizeof(kind)
    return made
