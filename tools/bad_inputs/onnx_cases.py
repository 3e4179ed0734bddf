"""Mistakes in ONNX models: bytes of a protocol buffer, written without a library."""

import struct

from case import Case

FLOAT, INT64, STRING = 1, 7, 8


def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """A field that holds a number, or bytes or text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value(name, shape, kind=FLOAT):
    dims = b"".join(field(1, field(1 if isinstance(d, int) else 2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def node(op, inputs, outputs, name="n", attributes=()):
    return (b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) +
            field(3, name) + field(4, op) + b"".join(field(5, a) for a in attributes))


def ints(name, numbers):
    return field(1, name) + b"".join(field(8, n) for n in numbers) + field(20, 7)


def tensor(name, dims, raw, kind=FLOAT, extra=b""):
    return (b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) +
            (field(9, raw) if raw else b"") + extra)


def external(location, offset="0"):
    entry = lambda key, text: field(13, field(1, key) + field(2, text))  # noqa: E731
    return entry("location", location) + entry("offset", offset) + field(14, 1)


def model(nodes, inputs=(), outputs=(), tensors=(), opset=17):
    graph = (b"".join(field(1, n) for n in nodes) + field(2, "g") +
             b"".join(field(5, t) for t in tensors) + b"".join(field(11, i) for i in inputs) +
             b"".join(field(12, o) for o in outputs))
    return field(1, 8) + field(8, field(1, "") + field(2, opset)) + field(7, graph)


X, Y = value("x", [2, 3]), value("y", [2, 3])
RELU = model([node("Relu", ["x"], ["y"])], [X], [Y])


def _cases():
    group = "An ONNX model"

    def case(what, data, error):
        return Case(group, what, "tg-opt m.onnx", "error: m.onnx: " + error, files={"m.onnx": data})

    def one(what, made, error, inputs=(X,), tensors=(), opset=17):
        return case(what, model([made], list(inputs), [Y], list(tensors), opset), error)

    yield case("torn in the graph", RELU[:-9],
               "not an ONNX model: the file is torn or damaged (end of buffer exception)")
    yield case("torn in the first node", RELU[:30],
               "not an ONNX model: the file is torn or damaged (end of buffer exception)")
    yield case("a length of two gigabytes", field(1, 8) + b"\x3a" + varint(1 << 31) + b"abc",
               "not an ONNX model: the file is torn or damaged (end of buffer exception)")
    yield case("no graph", field(1, 8) + field(2, "pytorch"), "not an ONNX model: there is no graph in it")
    yield one("an operator that is not read", node("Abracadabra", ["x"], ["y"]),
              "an operator that is not read: Abracadabra 'n'")
    yield case("several of them", model([node("A", ["x"], ["t"], "a"), node("B", ["t"], ["y"], "b")], [X], [Y]),
               "operators that are not read: A 'a', B 'b'")
    yield one("an opset of the future", node("Relu", ["x"], ["y"]), "opset 99 is not read (1 to 28 are)",
              opset=99)
    yield one("a value that nothing computes", node("Relu", ["z"], ["y"]),
              "Relu 'n': there is no value 'z' before it (nodes must follow their inputs)")
    yield case("a cycle", model([node("Relu", ["b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")],
                                [X], [value("b", [2, 3])]),
               "Relu 'first': there is no value 'b' before it (nodes must follow their inputs)")
    yield case("an output that nothing computes", model([], [X], [Y]), "'y': nothing computes this output")
    yield one("a missing operand", node("Add", ["x"], ["y"]), "Add 'n': there is no input 1")
    yield one("shapes that do not fit", node("MatMul", ["x", "x"], ["y"]),
              "MatMul 'n': a product of f32[2, 3] and f32[2, 3]")
    yield one("types that do not fit", node("Add", ["x", "i"], ["y"]),
              "Add 'n': operands of different types, f32[2, 3] and i64[3]", [X, value("i", [3], INT64)])
    yield one("an axis that is not", node("Concat", ["x", "x"], ["y"], attributes=[
        field(1, "axis") + field(3, 5) + field(20, 2)]), "Concat 'n': there is no axis 5 among 2")
    yield one("a permutation that is none", node("Transpose", ["x"], ["y"], attributes=[ints("perm", [0, 0])]),
              "Transpose 'n': no permutation of the axes of f32[2, 3]")
    yield one("a shape that depends on an input", node("Reshape", ["x", "s"], ["y"]),
              "Reshape 'n': input 1 must be known before the run", [X, value("s", [2], INT64)])
    yield one("a reshape to more elements", node("Reshape", ["x", "s"], ["y"]),
              "Reshape 'n': a reshape of f32[2, 3] to [4, 4]",
              tensors=[tensor("s", [2], struct.pack("<2q", 4, 4), INT64)])
    yield one("an input of text", node("Relu", ["t"], ["y"]), "'t': an input of type string",
              [value("t", [2], STRING)])
    yield one("a weight of too few bytes", node("Add", ["x", "w"], ["y"]),
              "tensor 'w' (float): 8 bytes for 3 elements", tensors=[tensor("w", [3], bytes(8))])
    yield one("a weight of a huge extent", node("Add", ["x", "w"], ["y"]),
              "tensor 'w' (float): it has too many elements",
              tensors=[tensor("w", [1 << 40, 1 << 40], bytes(8))])
    yield one("a weight of a negative extent", node("Add", ["x", "w"], ["y"]),
              "tensor 'w' (float): a negative extent", tensors=[tensor("w", [-1], bytes(8))])
    yield one("external data outside of the model's folder", node("Add", ["x", "w"], ["y"]),
              "tensor 'w' (float): its data are in '../w.bin', which is not below the model's folder",
              tensors=[tensor("w", [3], b"", extra=external("../w.bin"))])
    yield one("external data at no place", node("Add", ["x", "w"], ["y"]),
              "not an ONNX model: external data at no place",
              tensors=[tensor("w", [3], b"", extra=external("w.bin", "-4"))])
    yield Case(group, "external data behind the end of its file",
               "tg-run m.onnx --random-inputs=1 --device=reference",
               "tg-run: param @w: w.bin has 4 bytes, but 12 are read from byte 0",
               files={"m.onnx": model([node("Add", ["x", "w"], ["y"])], [X], [Y],
                                      [tensor("w", [3], b"", extra=external("w.bin"))]),
                      "w.bin": bytes(4)})
    yield Case(group, "an input of another size", "tg-run m.onnx --input x=x.npy --device=reference",
               "error: m.onnx: 'x': the model has rank 2, what is given has rank 1",
               files={"m.onnx": RELU, "x.npy": _npy(3)})


def _npy(count):
    from case import floats, npy

    return npy("<f4", f"({count},)", floats(count))


ONNX_CASES = list(_cases())
