"""When the newest tinygrad's scheduler reads memory that a graph overwrites.

A graph tells which state of memory is read: before a STORE, or AFTER it. tinygrad's scheduler does not
always respect that, and the tests expect the numbers of its order. TG_BRIDGE_EXACT=1 selects tg's
own order: each read is of the state that the graph tells, with a copy if necessary.
"""

from tinygrad.schedule import create_schedule, get_kernel_graph
from tinygrad.uop.ops import Ops

from newest_cut import is_memory, is_variable, is_whole, rebuild, state_of
from walk import walk


def is_kernel(u):
    """Values that are computed and stored at once: the value of a STORE, and CONTIGUOUS values."""
    if u.op is Ops.STORE:
        return not is_variable(u.src[0])
    return u.op is Ops.CONTIGUOUS and not is_whole(u.src[0])


def is_read(u):
    return is_memory(u) or is_kernel(u)


def inside(kernel):
    """The nodes that such a value is computed from, and the memory that it reads."""
    return walk(kernel.src[-1], is_read)


def is_stored_first(store):
    """Whether the value is stored in a separate buffer first and copied from there: a value with a sum
    over memory that also reads the memory that it overwrites."""
    target, value = store.src
    if target.buf_uop not in value.toposort(enter_calls=False):
        return False
    sums = (u for u in inside(store) if u.op is Ops.REDUCE)
    return any(is_memory(s) or s.op is Ops.CONTIGUOUS for u in sums for s in walk(u, is_read))


def is_cycle(sink):
    """Whether tinygrad's own scheduler ends in an error since kernels wait for each other, or for
    themselves. It looks for that where the conditions of WHEREs are folded, and at some reads only."""
    try:
        create_schedule(get_kernel_graph(sink))
    except RuntimeError as error:
        if "cycle" not in str(error):
            raise
        return True
    return False


def as_scheduled(sink):
    """The graph with the reads as they happen. A kernel that reads memory before a STORE, and something
    else that is made from what is there after it, cannot run before, and finds what is there after."""
    nodes = walk(sink, lambda u: False)
    later = {state_of(u.src[0]): u for u in nodes if u.op is Ops.AFTER and is_memory(u)}
    new = {}
    for u in nodes:
        sources = [new[s] for s in u.src]
        if is_kernel(u):
            order = inside(u)
            read = {s for s in order if is_memory(s)}
            needed = set(walk(u.src[-1], lambda u: False)) if read & later.keys() else ()
            late = {}
            for s in read & later.keys():
                state = s
                while later.get(state) in needed:
                    state = later[state]
                # A kernel that reads both states gets a copy, unless that is an error (is_cycle).
                if state not in read:
                    late[s] = new[state]
            if late:
                sources[-1] = rebuild(
                    u.src[-1], lambda v, _: late.get(v, new[v]) if is_read(v) else None, is_read)
            if u.op is Ops.STORE and is_stored_first(u):
                sources[-1] = sources[-1].contiguous()
        new[u] = u if tuple(sources) == u.src else u.replace(src=tuple(sources))
    return new[sink]
