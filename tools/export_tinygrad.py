"""Exports graphs from tinygrad, with their weights and names, for tg.

    from export_tinygrad import export
    export("model.repr", outputs={"logits": model(x)}, inputs={"x": x})

writes model.repr, the printed graph with its names in comments above it, and model.safetensors, the
contents of every realized buffer that is not an input: weights, and initial values of states. `tg-run
model.repr --input=x=x.npy` runs it. A path that ends in .uop gives a module of tg instead; the tool
tg-import, on the PATH or named by TG_IMPORT, makes it. Works with tinygrad v0.10.3 and v0.14.0, and
needs nothing else.
"""

import json
import os
import re
import subprocess

from tinygrad import Tensor, dtypes

_SAFETENSORS_TYPES = {
    dtypes.bool: "BOOL", dtypes.int8: "I8", dtypes.uint8: "U8", dtypes.int16: "I16",
    dtypes.uint16: "U16", dtypes.int32: "I32", dtypes.uint32: "U32", dtypes.int64: "I64",
    dtypes.uint64: "U64", dtypes.float16: "F16", dtypes.bfloat16: "BF16", dtypes.float32: "F32",
    dtypes.float64: "F64",
}
for _name, _type in (("fp8e4m3", "F8_E4M3"), ("fp8e5m2", "F8_E5M2")):
    if hasattr(dtypes, _name):
        _SAFETENSORS_TYPES[getattr(dtypes, _name)] = _type


def _graph(tensor):
    """The UOp behind a tensor; the attribute's name differs by version."""
    return tensor.uop if hasattr(tensor, "uop") else tensor.lazydata


def _number(buffer):
    """The number that identifies a BUFFER in the printed text."""
    for source in buffer.src:
        if source.op.name == "UNIQUE":
            return source.arg
    return buffer.arg.slot


def _is_buffer(node):
    return node.op.name == "BUFFER" and getattr(node.arg, "name", None) is None


def _buffers(sink):
    """The BUFFERs below `sink` by number, sources first."""
    return {_number(u): u for u in sink.toposort() if _is_buffer(u)}


def _written(sink):
    """The numbers of the buffers that the graph assigns to."""
    numbers = set()
    for u in sink.toposort():
        if u.op.name in ("ASSIGN", "STORE"):
            target = u.src[0]
            while not _is_buffer(target) and target.src:
                target = target.src[0]
            if _is_buffer(target):
                numbers.add(_number(target))
    return numbers


def _contents(buffer):
    """The bytes of a realized BUFFER, or None."""
    memory = buffer.buffer
    if not memory.is_allocated():
        return None
    return bytes(memory.as_memoryview() if hasattr(memory, "as_memoryview") else memory.as_buffer())


# Ops that keep the layout of a buffer's elements. ASSIGN (v0.10.3) and AFTER (v0.14.0) are the buffer
# after an assignment.
_SAME_ELEMENTS = ("RESHAPE", "ASSIGN", "AFTER", "COPY", "DETACH")


def _whole_buffer(tensor):
    """The BUFFER whose elements, in their order, are the tensor's; or None."""
    node = _graph(tensor)
    while node.op.name in _SAME_ELEMENTS or (node.op.name == "VIEW" and node.arg.contiguous):
        if not node.src:
            return None
        node = node.src[0]
    return node if _is_buffer(node) and _size(node) == tensor.numel() else None


def _check_name(name, what):
    if not re.fullmatch(r"[^\s=(\"]+", name):
        raise ValueError(f"{what} {name!r}: a name is not empty, and holds no blank, '=', '(' or '\"'")


def _name_buffers(tensors, what):
    """{number: (name, shape)} of tensors, each of which is a whole buffer."""
    names = {}
    for name, tensor in tensors.items():
        _check_name(name, what)
        buffer = _whole_buffer(tensor)
        if buffer is None:
            raise ValueError(f"{what} {name!r} is computed, not a buffer: realize it before it is used")
        if what == "input" and _number(buffer) in names:
            raise ValueError(f"inputs {names[_number(buffer)][0]!r} and {name!r} are one buffer")
        names[_number(buffer)] = (name, tuple(tensor.shape))
    return names


def _updates(tensors, sink):
    """The graphs, outside of that of `sink`, of tensors with contents that were assigned to."""
    known, updates = sink.toposort(), {}
    for tensor in tensors:
        node, buffer = _graph(tensor), _whole_buffer(tensor)
        if buffer is not None and node not in known and _number(buffer) in _written(node) and \
                _contents(buffer) is not None:
            updates[node] = None
    return list(updates)


def _save_safetensors(path, tensors):
    """`tensors`: {name: (dtype, shape, bytes)}."""
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        if dtype not in _SAFETENSORS_TYPES:
            raise ValueError(f"{name!r}: a file of weights has no {dtype}")
        header[name] = {"dtype": _SAFETENSORS_TYPES[dtype], "shape": list(shape),
                        "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, _, data in tensors.values():
            file.write(data)


def export(path, outputs, inputs=None, params=None):
    """Writes the graph that computes `outputs` and the buffers that it needs.

    Args:
      path: of the text, ending in .repr or .uop; weights go into the same folder, into .safetensors.
      outputs: {name: Tensor}, not realized yet.
      inputs: {name: Tensor} that the caller of the graph passes, also one that the graph does not read:
        Tensor.empty, or realized.
      params: {name: Tensor} for names of weights, as nn.state.get_state_dict(model) gives them.
      A tensor in either that was assigned to becomes a state, and its assignment is part of the
        graph whether an output reads it or not.

    Raises:
      ValueError: a buffer without contents that is no input, an input that is no buffer, or a name
        that no file of tg could hold.
    """
    for name in outputs:
        _check_name(name, "output")
    outputs = {name: _graph(t) for name, t in outputs.items()}
    named = [*(inputs or {}).values(), *(params or {}).values()]
    results = list(outputs.values())
    results += _updates(named, results[0].sink(*results[1:]))
    sink = results[0].sink(*results[1:])
    names = _name_buffers(params or {}, "param")
    input_names = _name_buffers(inputs or {}, "input")
    stem = os.path.splitext(path)[0]
    weights_path = stem + ".safetensors"
    written = _written(sink)
    lines = [f"# tg: module {os.path.basename(stem)}"]
    weights = {}
    for number, buffer in _buffers(sink).items():
        size = _size(buffer)
        if number in input_names and number not in written:
            name, shape = input_names[number]
            lines.append(f"# tg: input {name} = {number} {list(shape)}")
            continue
        name, shape = {**names, **input_names}.get(number, (f"buf{number}", (size,)))
        data = _contents(buffer)
        if data is None and number not in written:
            raise ValueError(f"buffer {number} ({size} elements) has no contents: "
                             "name it in inputs, or realize it")
        line = f"# tg: {'state' if number in written else 'param'} {name} = {number} {list(shape)}"
        if data is not None:
            weights[name] = (getattr(buffer.dtype, "base", buffer.dtype), shape, data)
            line += f' file("{os.path.basename(weights_path)}", "{name}")'
        lines.append(line)
    known = _buffers(sink)
    for (number, (name, shape)), tensor in zip(input_names.items(), (inputs or {}).values()):
        if number not in known:
            lines.append(f"# tg: input {name} = none {list(shape)} {tensor.dtype}")
    for index, (name, value) in enumerate(outputs.items()):
        if all(isinstance(extent, int) for extent in value.shape):
            lines.append(f"# tg: output {name} = {index} {list(value.shape)}")
        else:
            lines.append(f"# tg: output {name} = {index} []")
    if weights:
        _save_safetensors(weights_path, weights)
    text = "\n".join(lines) + "\n" + repr(sink) + "\n"
    if not path.endswith(".uop"):
        with open(path, "w") as file:
            file.write(text)
        return
    importer = os.environ.get("TG_IMPORT", "tg-import")
    subprocess.run([importer, "-o", path, "-"], input=text.encode(), check=True)


def _size(buffer):
    if isinstance(buffer.arg, int):
        return buffer.arg
    size = 1
    for extent in buffer.shape:
        size *= extent
    return size
