"""Floats of 8 bits as the newest tinygrad defines them: in memory only.

It has two formats that tg lacks (fnuz), and conversions saturate on overflow, where tg's give NaN or
an infinity. Values are therefore f32, stores and casts round, and memory of the formats that tg lacks
is bytes.
"""

import math

from tinygrad.dtype import dtypes, truncate
from tinygrad.uop.ops import Ops, ParamArg, UOp

from newest_cut import VIEWS
from walk import walk

GREATEST = {dtypes.fp8e4m3: 448.0, dtypes.fp8e5m2: 57344.0}
# Twice a number of a fnuz format has the bits of the number in this format. The greatest exponent of
# a fnuz format encodes numbers too: for these, the bits of a quarter of the number are taken, and 2 is
# added to the exponent.
TWICE = {dtypes.fp8e4m3fnuz: (dtypes.fp8e4m3, 3, 480.0), dtypes.fp8e5m2fnuz: (dtypes.fp8e5m2, 2, 114688.0)}


def is_finite(x):
    return x.eq(x) & (-math.inf < x) & (x < math.inf)


def least(x, bound):
    return (x < bound).where(x, bound)


def stored(x, dtype):
    """Converts f32 to the representation in memory."""
    if dtype in GREATEST:
        bound = GREATEST[dtype]
        clamped = (x < -bound).where(-bound, least(x, bound))
        return is_finite(x).where(clamped, x).cast(dtype)
    near, mantissa, bound = TWICE[dtype]
    size = least((x < 0).where(-x, x) * 2, bound)
    low = least(size, 64.0).cast(near).bitcast(dtypes.uint8) & 0x7F
    high = (size * 0.25).cast(near).bitcast(dtypes.uint8) + (2 << mantissa)
    bits = (size < 64.0).where(low, high)
    signed = ((x < 0) & bits.ne(0)).where(bits + 0x80, bits)
    return is_finite(x).where(signed, 0x80).cast(dtypes.uint8)


def loaded(memory, dtype):
    """Converts the representation in memory to f32."""
    if dtype in GREATEST:
        return memory.cast(dtypes.float32)
    near, mantissa, _ = TWICE[dtype]
    bits = memory & 0x7F
    low = bits.bitcast(near).cast(dtypes.float32) * 0.5
    high = (bits - (2 << mantissa)).bitcast(near).cast(dtypes.float32) * 2
    size = (bits < 32).where(low, high)
    return memory.eq(0x80).where(math.nan, (memory < 0x80).where(size, -size))


def bits_of(x, dtype):
    memory = stored(x, dtype)
    return memory if memory.dtype == dtypes.uint8 else memory.bitcast(dtypes.uint8)


def of_bits(bits, dtype):
    return loaded(bits.bitcast(dtype) if dtype in GREATEST else bits, dtype)


def without_fp8(sink):
    """The graph with such values as f32."""
    order = walk(sink, lambda u: False)
    if not any(u.dtype in dtypes.fp8s for u in order):
        return sink
    value, place = {}, {}  # of nodes: as f32, and as memory where they are
    for u in order:
        dtype, src = u.dtype, u.src
        values = tuple(value[s] for s in src)
        is_fp8 = dtype in dtypes.fp8s
        if is_fp8 and u.op is Ops.PARAM:
            memory = dtype if dtype in GREATEST else dtypes.uint8
            place[u] = UOp(Ops.PARAM, src=src, arg=ParamArg(u.arg.slot, memory, device=u.arg.device))
        elif is_fp8 and u.op in VIEWS | {Ops.AFTER} and u.op is not Ops.BITCAST and src[0] in place:
            place[u] = UOp(u.op, src=(place[src[0]], *values[1:]), arg=u.arg)
        if u in place:
            value[u] = loaded(place[u], dtype)
        elif u.op is Ops.STORE and src[0].dtype in dtypes.fp8s:
            value[u] = UOp(Ops.STORE, src=(place[src[0]], stored(values[1], src[0].dtype)), arg=u.arg)
        elif u.op is Ops.BITCAST and (is_fp8 or src[0].dtype in dtypes.fp8s):
            bits = bits_of(values[0], src[0].dtype) if src[0].dtype in dtypes.fp8s else values[0]
            value[u] = of_bits(bits.bitcast(dtypes.uint8), dtype) if is_fp8 else bits.bitcast(dtype)
        elif is_fp8 and u.op is Ops.CAST:
            value[u] = loaded(stored(values[0].cast(dtypes.float32), dtype), dtype)
        elif is_fp8 and u.op is Ops.CONST:
            value[u] = UOp.const(truncate[dtype](u.val), dtypes.float32)
        elif u.op is Ops.SINK:
            value[u] = UOp.sink(*[place.get(s, value[s]) for s in src])
        elif is_fp8 or any(s.dtype in dtypes.fp8s for s in src):
            value[u] = UOp(u.op, src=values, arg=u.arg)
        else:
            value[u] = u if values == src else u.replace(src=values)
    return value[sink]
