"""Arrays of numpy from and to tg's tensors."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from tg._library import InvalidArgument, Unimplemented

# By tg_type. What numpy lacks is an array of ml_dtypes if that is installed, else of bits.
_NAMES = [None, "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
          "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"]
_BITS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
_CPU_DEVICES = (1, 3, 11, 13)  # DLPack: the CPU, and memory of others that the host reads


def dtype_of(number: int) -> np.dtype | None:
    """The dtype of arrays for a tg_type."""
    name = _NAMES[number] if 0 < number < len(_NAMES) else None
    if name not in _BITS:
        return None if name is None else np.dtype(name)
    try:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, name))
    except ImportError:
        return np.dtype(_BITS[name])


def type_of(dtype: np.dtype) -> int:
    """The tg_type for a dtype."""
    if dtype.name in _NAMES:
        return _NAMES.index(dtype.name)
    raise InvalidArgument("there is no type of tg for an array of %s" % dtype)


def _from_dlpack(value: Any) -> np.ndarray:
    device = value.__dlpack_device__()[0]
    if device in _CPU_DEVICES:
        if getattr(value, "requires_grad", False):
            value = value.detach()
        return np.from_dlpack(value)
    # Through the host, as PyTorch and others spell it.
    for name in ("cpu", "get"):
        if hasattr(value, name):
            return _from_dlpack(getattr(value, name)()) if name == "cpu" else np.asarray(value.get())
    raise InvalidArgument("a tensor on a device of DLPack number %d, which has no method cpu()" % device)


class _Block:
    """Memory of an array. It goes back to the pool when no array uses it."""

    def __init__(self, pool: list[np.ndarray], memory: np.ndarray):
        self._pool, self._memory = pool, memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        if len(self._pool) < _MAX_FREE:
            self._pool.append(self._memory)


# In a loop one result is made while its caller has the one before.
_MAX_FREE = 2
_POOLED_BYTES = 1 << 20


def pool_for(shape: tuple[int, ...], dtype: np.dtype) -> list[np.ndarray] | None:
    """A pool for arrays of this shape and type, if they are large. The system clears the pages of new
    memory: a large result takes that of a former one, to which nothing refers any more."""
    return [] if math.prod(shape) * dtype.itemsize >= _POOLED_BYTES else None


def new_array(pool: list[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array in memory of its pool."""
    memory = pool.pop() if pool else np.empty(math.prod(shape) * dtype.itemsize, np.uint8)
    return np.asarray(_Block(pool, memory)).view(dtype).reshape(shape)


def address_of(array: np.ndarray) -> int:
    """Where the elements are."""
    try:
        return _address_of(_bytes_at(array))  # type: ignore[arg-type]  # a quarter of the time of the other way
    except (TypeError, ValueError):  # it is read-only, or has no element
        return array.ctypes.data


_address_of, _bytes_at = ctypes.addressof, ctypes.c_char.from_buffer


def as_array(value: Any, dtype: np.dtype | None, name: str) -> np.ndarray:
    """An array in C order for an input: `value` itself, or its memory, if that can be.

    Numbers and lists become arrays of `dtype`. An array or tensor keeps its type, which is an error if it
    is another one.
    """
    if isinstance(value, np.ndarray):
        if value.dtype == dtype and value.flags.c_contiguous:
            return value
        array = value
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value)
    elif hasattr(value, "__array__") and not np.isscalar(value):
        array = np.asarray(value)
    else:
        array = np.asarray(value, dtype=dtype)
    if dtype is None:
        raise Unimplemented("@%s is of a type that the host does not have" % name)
    if array.dtype != dtype:
        if array.dtype.newbyteorder("=") != dtype:
            raise InvalidArgument("@%s is an array of %s, not %s; x.astype(np.%s) makes one"
                                  % (name, array.dtype, dtype, dtype.name))
        array = array.astype(dtype)
    return array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)
