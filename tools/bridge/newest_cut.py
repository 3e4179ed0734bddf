"""Cuts a graph of the newest tinygrad into parts that tg runs and copies between devices.

A graph here is a SINK of AFTERs: memory, and the STOREs and CALLs that it is behind. Where it is to be
copied, or where a schedule is called (a precompiled function's), it is cut: each STORE, COPY and CALL
gets a time, copies and calls even ones and parts odd ones, so that what a step reads was made before,
and what it overwrites was read before. The STOREs of one time and device are one part, in which tg
finds the order itself.
"""

from dataclasses import dataclass

from tinygrad.uop.ops import AxisType, GroupOp, Ops, ParamArg, PatternMatcher, UOp, UPat, graph_rewrite
from tinygrad.dtype import AddrSpace
from tinygrad.schedule.allreduce import handle_allreduce
from tinygrad.schedule.multi import multi_pm
from tinygrad.schedule.rangeify import resolve_function

from walk import walk


class NotThroughTg(Exception):
    """Raised where tinygrad's own scheduler or compiler would be needed."""


# The ops of views of memory. A DETACH moves nothing.
VIEWS = GroupOp.Movement | {Ops.BITCAST, Ops.DETACH}
# Memory of several devices as one, or of one of them.
SHARDS = {Ops.MSTACK, Ops.MSELECT}


def is_variable(u):
    return u.op in (Ops.PARAM, Ops.BUFFER) and u.addrspace is AddrSpace.ALU


def is_memory(u):
    return u.op in {Ops.PARAM, Ops.BUFFER, Ops.COPY, Ops.AFTER} | SHARDS and not is_variable(u)


def state_of(u):
    """The memory, in the state that it is read or written in, behind views."""
    while u.op in VIEWS:
        u = u.src[0]
    return u


def is_whole(u):
    """Whether all elements of memory are there, in their order."""
    while u.op in (Ops.RESHAPE, Ops.DETACH):
        u = u.src[0]
    return is_memory(u) and (u.op is not Ops.AFTER or is_whole(u.src[0]))


def is_schedule(u):
    """Whether it is the body of a CALL; its buffers are not those of the graph."""
    return u.op is Ops.LINEAR


def rebuild(root, replacement, is_leaf=is_schedule):
    """`root` with its nodes replaced, sources first; replacement(node, sources) gives a node, or None
    for the node on these sources."""
    new = {}
    for u in walk(root, is_leaf):
        sources = u.src if is_leaf(u) else tuple(new[s] for s in u.src)
        other = replacement(u, sources)
        new[u] = other if other is not None else u if sources == u.src else u.replace(src=sources)
    return new[root]


def free_slot(nodes):
    """A number above those of the buffers."""
    slots = [u.arg.slot for u in nodes if u.op is Ops.BUFFER and not is_variable(u)]
    return max(slots, default=-1) + 1


def buffer_of(like, device, slot):
    """A flat buffer for a value."""
    return UOp(Ops.BUFFER, src=(UOp.const(like.max_numel()),), arg=ParamArg(slot, like.dtype, device=device))


def held_in(buffer, value):
    """The AFTER of a buffer that holds a value."""
    return buffer.after(buffer.store(value.reshape((value.numel(),))))


# Sums over devices are copies and sums.
_devices = PatternMatcher([
    (UPat(Ops.ALLREDUCE, src=(UPat.var("buf"),), name="red"), handle_allreduce)]) + multi_pm
_calls = PatternMatcher([
    (UPat(Ops.FUNCTION, name="c"), resolve_function),
    (UPat(Ops.GETTUPLE, src=(UPat(Ops.TUPLE, name="t"),), name="g"), lambda g, t: t.src[g.arg]),
])


def prepared(sink):
    """The graph without functions and shards, without memory of no elements, copies only where devices
    differ, and stores only into the type of their memory."""
    sink = graph_rewrite(graph_rewrite(sink, multi_pm), _calls, bottom_up=True)
    sink = graph_rewrite(sink, _devices)
    slot = free_slot(sink.toposort(enter_calls=False))
    held = {}  # computed on several devices, and selected from: an AFTER

    def replacement(u, sources):
        if u.op in (Ops.PARAM, Ops.BUFFER, Ops.COPY) and not is_variable(u) and 0 in u.shape:
            return u.const_like(0)
        if u.op is Ops.COPY and sources[0].device in (None, u.arg):
            return sources[0]
        if u.op is Ops.STORE and not is_variable(sources[0]):
            target, value = sources
            if 0 in target.shape:
                return UOp(Ops.NOOP)
            while target.op is Ops.BITCAST:
                target = target.src[0]
                value = value.bitcast(target.dtype)
            return target.store(value)
        if u.op is Ops.AFTER:
            effects = tuple(s for s in sources[1:] if s.op is not Ops.NOOP)
            return sources[0].after(*effects) if effects else sources[0]
        if u.op is Ops.SINK:
            states = (state_of(s.src[0] if s.op is Ops.UNSHARD else s) for s in sources)
            return UOp.sink(*[s for s in states if s.op in (Ops.AFTER, Ops.COPY)])
        if u.op is Ops.MSELECT and not is_memory(state_of(sources[0])):
            value = sources[0].src[0] if sources[0].op is Ops.CONTIGUOUS else sources[0]
            if value not in held:
                held[value] = held_in(buffer_of(value, value.device, slot + len(held)), value)
            return u.replace(src=(held[value].reshape(value.shape),))
        if u.op is Ops.MSTACK:
            # A computed value is copied into memory.
            return u.replace(src=tuple(s if is_whole(s) else UOp(Ops.COPY, src=(s,), arg=d)
                                       for s, d in zip(sources, u.device)))
        if u.op is Ops.RANGE and u.arg[-1] is AxisType.DEVICE:
            return UOp.variable("_device_num", 0, u.vmax, dtype=u.dtype, param=True)
        if u.op is Ops.CUSTOM_FUNCTION or (u.op is Ops.CALL and not is_schedule(u.src[0])):
            raise NotThroughTg(f"a {u.op} in a graph")
        return None

    return rebuild(sink, replacement)


@dataclass(eq=False)
class Write:
    """A STORE, a COPY or a CALL. reads: memory, in its states, that its value is computed from. before:
    the states that it overwrites. is_copy: whether it is no part, but a COPY or CALL of tinygrad's."""

    node: UOp
    device: object
    reads: set
    before: tuple
    is_copy: bool
    time: int = 0


def reads_of(value):
    """The states of memory below a value."""
    found, stack, seen = set(), [value], set()
    while stack:
        u = stack.pop()
        if u in seen:
            continue
        seen.add(u)
        if is_memory(u):
            found.add(u)
        if not is_memory(u) or u.op in SHARDS:
            stack += u.src
    return found


class Cut:
    """What is to happen at each of times(): copies(time), then parts(time)."""

    def __init__(self, sink):
        self.sink = prepared(sink)
        self.nodes = [u for u in self.sink.toposort(enter_calls=False)]
        self.new_slot = free_slot(self.nodes)
        self.memory = {}  # of COPYs that are stored nowhere: a BUFFER
        self.sources = {}  # of COPYs of what is computed: the AFTER that holds it
        self.writes = {}
        self.find_writes()
        self.held = [u for s in self.sources.values() for u in s.toposort(enter_calls=False)]
        self.find_times()

    def new_buffer(self, like, device):
        self.new_slot += 1
        return buffer_of(like, device, self.new_slot - 1)

    def find_writes(self):
        users = {}
        for u in self.nodes:
            for s in u.src:
                users.setdefault(s, []).append(u)
        for u in self.nodes:
            if u.op is Ops.STORE and not is_variable(u.src[0]):
                target, value = u.src
                is_copy = value.op is Ops.COPY and is_whole(target)
                if is_copy:
                    value = self.source_of(value)
                self.writes[u] = Write(u, target.device, reads_of(value), (state_of(target),), is_copy)
            elif u.op is Ops.CALL:
                reads = set().union(*(reads_of(s) for s in u.src[1:]))
                before = tuple(state_of(a.src[0]) for a in users[u] if a.op is Ops.AFTER)
                self.writes[u] = Write(u, None, reads, before, True)
        for u in self.nodes:
            stored = (x in self.writes and self.writes[x].is_copy for x in users.get(u, []))
            if u.op is Ops.COPY and not all(stored):
                self.memory[u] = self.new_buffer(u, u.arg)
                self.writes[u] = Write(u, u.arg, reads_of(self.source_of(u)), (), True)

    def source_of(self, copy):
        """The source of a COPY: whole memory."""
        if is_whole(copy.src[0]):
            return copy.src[0]
        if copy not in self.sources:
            value = copy.src[0]
            buffer = self.new_buffer(value, value.device)
            after = held_in(buffer, value)
            self.sources[copy] = after
            self.writes[after.src[1]] = Write(after.src[1], value.device, reads_of(value), (buffer,), False)
        return self.sources[copy]

    def ready(self, times):
        """{memory: the time from which on it is in this state}"""
        ready = {}
        for u in [*self.held, *self.nodes]:
            if not is_memory(u):
                continue
            below = [ready.get(state_of(s), 0) for s in u.src]
            own = [times[s] for s in (u, *u.src[1:]) if s in times and (s is u or s.op in (Ops.STORE, Ops.CALL))]
            ready[u] = max([0, *own, *([] if u.op is Ops.COPY else below)])
        return ready

    def find_times(self):
        readers = {}
        for w in self.writes.values():
            for s in w.reads:
                readers.setdefault(s, []).append(w)
        changed, rounds = True, 0
        while changed:
            changed, rounds = False, rounds + 1
            if rounds > 2 * len(self.writes) + 4:
                raise NotThroughTg("a copy between devices of memory that is overwritten before it is read")
            ready = self.ready({w.node: w.time for w in self.writes.values()})
            for w in self.writes.values():
                # Different parts write memory of several devices and read it on one of them.
                time = max([w.time, *(ready.get(s, 0) + (s.op in SHARDS) for s in (*w.before, *w.reads))])
                for r in (r for s in w.before for r in readers.get(s, ())):
                    is_same_part = not w.is_copy and not r.is_copy and w.device == r.device
                    if r is not w and not is_same_part:
                        time = max(time, r.time + 1 + (w.is_copy and r.is_copy))
                    elif r is not w:
                        time = max(time, r.time)
                time += time % 2 != (not w.is_copy)
                changed |= time != w.time
                w.time = time

    def times(self):
        return sorted({w.time for w in self.writes.values()})

    def copies(self, time):
        """The CALLs of COPYs and schedules, in an order in which they may run."""
        order = []
        for u in self.nodes:
            w = self.writes.get(u)
            if w is None or not w.is_copy or w.time != time:
                continue
            if u.op is Ops.CALL:
                # As tinygrad's scheduler does: memory, and variables that have no value yet.
                order.append(u.src[0].call(*[self.memory_of(state_of(s)) for s in u.src[1:]
                                             if not s.is_bound_var]))
                continue
            copy = u if u.op is Ops.COPY else u.src[1]
            target = self.memory_of(self.memory[u] if u.op is Ops.COPY else u.src[0].buf_uop)
            source = self.memory_of(state_of(self.source_of(copy)))
            order.append(UOp(Ops.COPY, src=(source.param_like(1),), arg=target.device).call(target, source))
        return list(dict.fromkeys(order))

    def memory_of(self, u):
        """The buffer of a state."""
        while u.op not in {Ops.PARAM, Ops.BUFFER} | SHARDS:
            u = self.memory[u] if u in self.memory else state_of(u.src[0])
        if u.op in SHARDS:
            return u.replace(src=tuple(self.memory_of(state_of(s)) for s in u.src))
        return u

    def parts(self, time):
        """[[AFTER]]: what tg is to run at this time, of each device."""
        devices = {}
        for u in self.held + self.nodes:
            if u.op is not Ops.AFTER:
                continue
            for s in u.src[1:]:
                w = self.writes.get(s)
                if w is not None and not w.is_copy and w.time == time:
                    devices.setdefault(w.device, {})[s] = u
        result = []
        for stores in devices.values():
            new = rebuild(UOp.sink(*dict.fromkeys(stores.values())), lambda u, s: self.at(time, u, s))
            # A later state of the same memory runs the writes that it includes.
            later = {u.src[0] for u in new.toposort(enter_calls=False) if u.op is Ops.AFTER}
            result.append([s for s in new.src if s.op is Ops.AFTER and s not in later])
        return [roots for roots in result if roots]

    def at(self, time, u, sources):
        """A node as seen by a part of this time: earlier writes are memory."""
        if u in self.memory:
            return self.memory[u].reshape(u.shape)
        if u.op is Ops.STORE and sources[0] is sources[1]:
            return UOp(Ops.NOOP)  # what is there already
        if u.op is not Ops.AFTER or is_variable(u.src[0]):
            return None
        effects = [new for s, new in zip(u.src[1:], sources[1:])
                   if new.op is not Ops.NOOP and
                   (self.writes[s].time == time if s in self.writes else new.op is Ops.AFTER)]
        return sources[0].after(*effects) if effects else sources[0]
