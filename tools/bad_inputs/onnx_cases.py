"""Mistakes in ONNX models: bytes of a protocol buffer, written without a library."""

import struct

from case import Case

FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9


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


def number(name, n):
    return field(1, name) + field(3, n) + field(20, 2)


def text(name, value):
    return field(1, name) + field(4, value) + field(20, 3)


def subgraph(name, nodes, inputs=(), outputs=()):
    return field(1, name) + field(6, graph(nodes, inputs, outputs)) + field(20, 5)


def tensor(name, dims, raw, kind=FLOAT, extra=b""):
    return (b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) +
            (field(9, raw) if raw else b"") + extra)


def external(location, offset="0"):
    entry = lambda key, text: field(13, field(1, key) + field(2, text))  # noqa: E731
    return entry("location", location) + entry("offset", offset) + field(14, 1)


def graph(nodes, inputs=(), outputs=(), tensors=()):
    return (b"".join(field(1, n) for n in nodes) + field(2, "g") +
            b"".join(field(5, t) for t in tensors) + b"".join(field(11, i) for i in inputs) +
            b"".join(field(12, o) for o in outputs))


def model(nodes, inputs=(), outputs=(), tensors=(), opset=17, rest=b""):
    return (field(1, 8) + field(8, field(1, "") + field(2, opset)) +
            field(7, graph(nodes, inputs, outputs, tensors)) + rest)


def function(name, calls):
    """A function of one input that calls these in turn, in the domain "f"."""
    values = ["v0"] + [f"v{i + 1}" for i in range(len(calls))]
    nodes = b"".join(field(7, node(call, [values[i]], [values[i + 1]], call.lower()) + field(7, "f"))
                     for i, call in enumerate(calls))
    return field(25, field(1, name) + field(4, values[0]) + field(5, values[-1]) + nodes +
                 field(10, "f"))


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
    yield one("repeats that depend on an input", node("Tile", ["x", "s"], ["y"]),
              "Tile 'n': input 1 must be known before the run", [X, value("s", [2], INT64)])
    yield one("a reshape to more elements", node("Reshape", ["x", "s"], ["y"]),
              "Reshape 'n': a reshape of f32[2, 3] to [4, 4]",
              tensors=[tensor("s", [2], struct.pack("<2q", 4, 4), INT64)])
    yield one("a determinant of too many rows", node("Det", ["x"], ["y"]),
              "Det 'n': the determinant of f32[5000, 5000], of more than 4096 rows", (value("x", [5000, 5000]),))
    yield one("no number where one is needed", node("Trilu", ["x", "k"], ["y"]),
              "Trilu 'n': input 1 must be one number, not 0", tensors=[tensor("k", [0], b"", INT64)])
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


def _damaged_files():
    group = "An ONNX model that is damaged"

    def case(what, data, error, files=None):
        return Case(group, what, "tg-opt m.onnx", "error: m.onnx: " + error,
                    files={"m.onnx": data} | (files or {}))

    damaged = "not an ONNX model: the file is torn or damaged "
    yield case("nothing", b"", "not an ONNX model: there is no graph in it")
    yield case("torn in the first byte pair", RELU[:3], damaged + "(end of buffer exception)")
    yield case("torn in the middle", RELU[:len(RELU) // 2], damaged + "(end of buffer exception)")
    yield case("torn in the last byte", RELU[:-1], damaged + "(end of buffer exception)")
    yield case("zeros", bytes(1000), damaged + "(invalid tag exception)")
    yield case("something behind the end", RELU + b"\xff" * 20, damaged + "(varint too long exception)")
    yield case("a number where a graph belongs", field(1, 8) + field(7, 5),
               "not an ONNX model: a field of another wire type")
    yield case("weights of two gigabytes in a kilobyte",
               field(1, 8) + field(7, field(5, field(1, 1 << 29) + field(2, FLOAT) + field(8, "w") +
                                            b"\x4a" + varint(1 << 31) + bytes(1000))),
               damaged + "(end of buffer exception)")
    yield case("dimensions of two gigabytes for a kilobyte",
               model([node("Add", ["x", "w"], ["y"])], [X], [Y], [tensor("w", [1 << 29], bytes(1000))]),
               "tensor 'w' (float): 1000 bytes for 536870912 elements")
    deep = subgraph("then_branch", [node("Relu", ["x"], ["o"])], (), [Y])
    for _ in range(80):
        deep = subgraph("then_branch", [node("If", ["c"], ["o"], attributes=[deep])], (), [Y])
    yield case("graphs in graphs in graphs", model([node("If", ["c"], ["y"], attributes=[deep])], [X], [Y]),
               "not an ONNX model: graphs nested too deeply")


def _wrong_graphs():
    group = "An ONNX model that breaks a rule"

    def case(what, data, error):
        return Case(group, what, "tg-opt m.onnx", "error: m.onnx: " + error, files={"m.onnx": data})

    def one(what, made, error, inputs=(X,), outputs=(Y,), tensors=(), rest=b""):
        return case(what, model([made], list(inputs), list(outputs), list(tensors), rest=rest), error)

    relu = node("Relu", ["x"], ["y"])
    call = node("F", ["x"], ["y"]) + field(7, "f")
    longs = lambda *n: struct.pack(f"<{len(n)}q", *n)  # noqa: E731
    yield one("no outputs", relu, "the model has no outputs", outputs=())
    yield one("two inputs of one name", relu, "'x': two inputs of this name", [X, X])
    yield case("two values of one name", model([relu, node("Neg", ["x"], ["y"], "m")], [X], [Y]),
               "Neg 'm': there is a value 'y' already")
    yield one("a result with the name of an input", node("Relu", ["x"], ["x"]),
              "Relu 'n': there is a value 'x' already", outputs=[X])
    yield one("names of several lines", node("Relu", ["z"], ["y"], "a\nb\x1b[31m"),
              "Relu 'a\\nb\\x1b[31m': there is no value 'z' before it (nodes must follow their inputs)")
    yield one("an attribute of another type", node("Softmax", ["x"], ["y"], attributes=[text("axis", "1")]),
              "Softmax 'n': attribute 'axis' is a string, not an int")
    yield one("a function that calls itself", call,
              "in f.F 'n': in f.G 'g': f.F 'f': a function that calls itself",
              rest=function("F", ["G"]) + function("G", ["F"]))
    yield one("functions that double the nodes, thirty times", node("F0", ["x"], ["y"]) + field(7, "f"),
              "...: more than 1048576 nodes, with loops and functions expanded",
              rest=b"".join(function(f"F{i}", [f"F{i + 1}"] * 2) for i in range(30)) +
              function("F30", []))
    branches = [
        subgraph("then_branch", [node("Shape", ["x"], ["a"])], (), [value("a", [2], INT64)]),
        subgraph("else_branch", [node("Relu", ["x"], ["b"])], (), [value("b", ["frames/second", 3])])]
    by_data = [node("Equal", ["from", "to"], ["c"]), node("If", ["c"], ["y"], attributes=branches)]
    yield case("branches of different types, under a condition on data, with an open dimension",
               model(by_data, [value("x", ["frames/second", 3]), value("from", [1], INT64)], [Y],
                     [tensor("to", [1], longs(1), INT64)]),
               "If 'n': branches whose results differ in type or rank, under a condition that depends on data")
    yield one("a loop without end", node("Loop", ["", "t", "x"], ["y"], attributes=[
        subgraph("body", [node("Identity", ["c"], ["d"]), node("Relu", ["v"], ["w"])],
                 [value("i", [], INT64), value("c", [], BOOL), value("v", [2, 3])],
                 [value("d", [], BOOL), value("w", [2, 3])])]),
              "Loop 'n': a loop without end", tensors=[tensor("t", [], b"\1", BOOL)])
    yield one("a loop without a body", node("Loop", ["m", "", "x"], ["y"]),
              "Loop 'n': there is no graph 'body'", tensors=[tensor("m", [], longs(3), INT64)])
    yield one("an input of a huge extent", relu, "'x': a tensor of too many elements: [2, 4611686018427387904]",
              [value("x", [2, 1 << 62])])
    yield one("a negative extent", node("ConstantOfShape", ["s"], ["y"]),
              "ConstantOfShape 'n': a negative extent: [-4]", tensors=[tensor("s", [1], longs(-4), INT64)])
    yield one("a huge extent", node("Tile", ["x", "s"], ["y"]),
              "Tile 'n': a tensor of too many elements: [1099511627776, 2, 1099511627776, 3]",
              tensors=[tensor("s", [2], longs(1 << 40, 1 << 40), INT64)])
    yield one("a part of negative length", node("Split", ["x", "s"], ["y", "z"]),
              "Split 'n': a part of -1 elements", tensors=[tensor("s", [2], longs(-1, 3), INT64)])
    yield one("an index behind the end", node("Gather", ["x", "s"], ["y"]),
              "Gather 'n': index 1125899906842624 into 2 elements",
              tensors=[tensor("s", [1], longs(1 << 50), INT64)])
    yield one("a convolution in no groups", node("Conv", ["x", "w"], ["y"], attributes=[number("group", 0)]),
              "Conv 'n': a convolution of f32[1, 2, 5, 5] with f32[2, 2, 3, 3]",
              [value("x", [1, 2, 5, 5])], tensors=[tensor("w", [2, 2, 3, 3], bytes(144))])
    image, kernel = [value("x", [1, 4, 5, 5])], [tensor("w", [4, 2, 3, 3], bytes(288))]
    yield one("a stride beyond all sizes", node("ConvTranspose", ["x", "w"], ["y"], attributes=[
        ints("strides", [1 << 40, 1])]), "ConvTranspose 'n': a window or its input of 1099511627776 elements",
              image, tensors=kernel)
    yield one("an output shape of too few axes", node("ConvTranspose", ["x", "w"], ["y"], attributes=[
        ints("output_shape", [9])]), "ConvTranspose 'n': strides, dilations, pads, output_padding or output_shape "
              "of another number of axes", image, tensors=kernel)
    yield one("blocks beyond all sizes", node("DepthToSpace", ["x"], ["y"], attributes=[number("blocksize", 1 << 50)]),
              "DepthToSpace 'n': an input that has not four axes, or a blocksize outside of 1 to 16777216", image)
    yield one("a mode that is none", node("Resize", ["x", "", "s"], ["y"], attributes=[
        text("coordinate_transformation_mode", "sideways")]),
              "Resize 'n': coordinate_transformation_mode 'sideways'",
              tensors=[tensor("s", [2], struct.pack("<2f", 2, 2))])
    yield one("recurrent weights of another number of gates", node("GRU", ["x", "w", "w"], ["y"]),
              "GRU 'n': recurrent weights f32[1, 4, 4] for 3 gates of hidden size 4",
              [value("x", [2, 3, 4])], tensors=[tensor("w", [1, 4, 4], bytes(64))])
    sparse = field(1, tensor("w", [1], bytes(4))) + field(2, tensor("", [1], longs(99), INT64)) + field(3, 6)
    yield case("a sparse weight", field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(
        7, graph([relu], [X], [Y]) + field(15, sparse)), "tensor 'w': sparse tensors are not read")
    yield one("an input that is a map", relu, "'x': an input that is no tensor and no sequence of tensors",
              [field(1, "x") + field(2, field(5, field(1, INT64)))])
    yield one("an absolute path of external data", node("Add", ["x", "w"], ["y"]),
              "tensor 'w' (float): its data are in '/etc/passwd', which is not below the model's folder",
              tensors=[tensor("w", [3], b"", extra=external("/etc/passwd"))])
    yield one("external data above the model's folder, in a constant", node("Constant", [], ["y"], attributes=[
        field(1, "value") + field(5, tensor("w", [3], b"", extra=external("a/../../w"))) + field(20, 4)]),
              "Constant 'n': tensor 'w' (float): its data are in 'a/../../w', which is not below the model's folder")
    wide = [value("x", ["batch", 1])], [value("y", ["batch", 1 << 20])]
    yield Case(group, "an open dimension whose buffers exceed the device's memory",
               "tg-run m.onnx --random-inputs=1 --device=cpu --max=batch=1048576",
               "tg-run: graph @main needs 4.40 TB of memory (0 B of it for temporaries) on ..., where ... of ... are "
               "available; it was compiled for @batch from 1 to 1048576 and has 1048576; --var=batch=1 makes it smaller",
               files={"m.onnx": model([node("Expand", ["x", "s"], ["y"])], *wide,
                                      [tensor("s", [2], longs(1, 1 << 20), INT64)])})
    yield Case(group, "an open dimension whose random inputs exceed the machine's memory",
               "tg-run m.onnx --random-inputs=1 --device=cpu --max=a/b=1000000000000",
               "tg-run: random inputs take 8.00 TB of memory, where ... are available; random inputs have @a_b = "
               "1000000000000; --var=a/b=1 makes it smaller",
               files={"m.onnx": model([node("Relu", ["x"], ["y"])], [value("x", ["a/b", 2])],
                                      [value("y", ["a/b", 2])])})
    open_batch = {"m.onnx": model([node("Relu", ["x"], ["y"])], [value("x", ["batch", 2])],
                                  [value("y", ["batch", 2])])}
    yield Case(group, "a size of a dimension that the model does not have",
               "tg-run m.onnx --random-inputs=1 --device=reference --var=bach=2",
               "tg-run: --var bach: there is no dimension @bach; did you mean 'batch'?", files=open_batch)
    yield Case(group, "a greatest size of such a dimension",
               "tg-run m.onnx --random-inputs=1 --device=reference --max=rows=2",
               "tg-run: --max rows: there is no dimension @rows; there are @batch", files=open_batch)
    yield Case(group, "a size where all are fixed",
               "tg-run m.onnx --random-inputs=1 --device=reference --var=batch=2",
               "tg-run: --var batch: the model has no open dimension", files={"m.onnx": RELU})
    yield case("a squeeze without axes, of an extent that may be 1",
               model([node("Concat", ["x", "x"], ["t"], "c", [number("axis", 0)]),
                      node("Slice", ["t", "from", "to"], ["u"], "s"), node("Squeeze", ["u"], ["y"])],
                     [value("x", ["rows", 2])], [Y],
                     [tensor("from", [1], longs(1), INT64), tensor("to", [1], longs(1 << 40), INT64)]),
               "Squeeze 'n': whether axis 0 of f32[n, 2] goes depends on a size that is open (its inputs have "
               "open dimensions: rows; --var gives one its size, --max its greatest)")
    yield Case(group, "external data that are not there", "tg-run m.onnx --random-inputs=1 --device=reference",
               "tg-run: param @w: cannot open w..bin: No such file or directory",
               files={"m.onnx": model([node("Add", ["x", "w"], ["y"])], [X], [Y],
                                      [tensor("w", [3], b"", extra=external("w..bin"))])})


def _npy(count):
    from case import floats, npy

    return npy("<f4", f"({count},)", floats(count))


ONNX_CASES = [*_cases(), *_damaged_files(), *_wrong_graphs()]
