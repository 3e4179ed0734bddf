"""Mistakes in tg-run's input data, in its options, and in its devices."""

from case import Case, changed, floats, npy, safetensors

MODEL = """tg 1
module @m
buffer @x : f32[4, 8] input
buffer @w : f32[8] param = file("w.safetensors", "weight")
buffer @y : f32[4, 8] output

graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %0 = reshape %w {shape = [1, 8]} : f32
  %1 = expand %0 {shape = [4, 8]} : f32
  %2 = mul %x, %1 : f32
  sink %2 -> @y
}
"""

SYMBOLIC = """tg 1
module @m
var @n : [1, 16]
buffer @y : f32[@n] output

graph @main {
  %n = var @n : index
  %f = cast %n : f32
  %1 = reshape %f {shape = [1]} : f32
  %2 = expand %1 {shape = [%n]} : f32
  sink %2 -> @y
}
"""

HALF = """tg 1
module @m
buffer @x : f16[8] input
buffer @y : f16[8] output

graph @main {
  %x = buffer @x : f16
  %0 = exp2 %x : f16
  sink %0 -> @y
}
"""

HUGE = """tg 1
module @m
buffer @x : f32[1] input
buffer @y : f32[1099511627776] output

graph @main {
  %x = buffer @x : f32
  %0 = expand %x {shape = [1099511627776]} : f32
  sink %0 -> @y
}
"""

OPEN = """tg 1
module @m
var @n : [1, 1048576]
buffer @x : f32[@n] input
buffer @y : f32[@n, 1048576] output

graph @main {
  %x = buffer @x : f32
  %n = var @n : index
  %0 = reshape %x {shape = [%n, 1]} : f32
  %1 = expand %0 {shape = [%n, 1048576]} : f32
  sink %1 -> @y
}
"""

LOCAL = """tg 1
module @m
buffer @y : f32[4] output

graph @main {
  %y = buffer @y : f32
  %k = kernel @fill(%y)
  %r = assign %y, %k : f32
  sink %r
}

kernel @fill : linear {
  %y = define_global {arg = 0} : ptr<f32, 4>
  %s = scratch {id = 0} : ptr<f32, 16777216, local>
  %n = const 4 : i32
  %v = const 1.5 : f32
  %l = special %n {name = local0} : i32
  %0 = index %s, %l : ptr<f32, 16777216, local>
  %1 = store %0, %v
  %2 = barrier %1
  %3 = after %s, %2 : ptr<f32, 16777216, local>
  %4 = index %3, %l : ptr<f32, 16777216, local>
  %5 = load %4 : f32
  %6 = index %y, %l : ptr<f32, 4>
  %7 = store %6, %5
  sink %7
}
"""

GROUP = """tg 1
module @m
buffer @y : f32[1048576] output

graph @main {
  %y = buffer @y : f32
  %k = kernel @fill(%y)
  %r = assign %y, %k : f32
  sink %r
}

kernel @fill : linear {
  %y = define_global {arg = 0} : ptr<f32, 1048576>
  %n = const 1048576 : i32
  %v = const 1.5 : f32
  %l = special %n {name = local0} : i32
  %0 = index %y, %l : ptr<f32, 1048576>
  %1 = store %0, %v
  sink %1
}
"""

SCHEDULE = """tg 1
module @m
buffer @y : f32[16] output

graph @main {
  %y = buffer @y : f32
  %k = kernel @fill(%y)
  %r = assign %y, %k : f32
  sink %r
}

kernel @fill : kernel {axes = [i0:16 global], schedule = [local(i0, 5)]} {
  %y = define_global {arg = 0} : ptr<f32, 16>
  %0 = const 1.5 : f32
  %1 = reshape %0 {shape = [1]} : f32
  %2 = expand %1 {shape = [16]} : f32
  %3 = store %y, %2
  sink %3
}
"""

HEADER = '{"weight": {"dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}'
WEIGHTS = safetensors(HEADER, floats(8))
X = npy("<f4", "(4, 8)", floats(32))
RUN = "tg-run m.uop --device=reference --input x=x.npy --output y=y.npy"
RUN_DEVICE = RUN.replace("reference", "cpu")
RUN_TRACE = "tg-run m.uop --device=cpu --input x=x.npy --profile=/dev/full"
RUN_REPORT = "tg-run m.uop --device=cpu --input x=x.npy"
RUN_N = "tg-run m.uop --device=reference --output y=y.npy"
RUN_FILL = "tg-run m.uop --device=cpu --output y=y.npy"


def _cases():
    def run(what, error, command=RUN, code=1, model=MODEL, x=X, weights=WEIGHTS, **more):
        files = {"m.uop": model, "x.npy": x, "w.safetensors": weights, **more.pop("files", {})}
        files = {name: data for name, data in files.items() if data != "absent"}
        return Case(group, what, command, error, code, files, **more)

    group = "Inputs (npy)"
    yield run("a missing input file",
              "tg-run: input @x: cannot open x.npy: No such file or directory", x="absent")
    yield run("a folder for an input", "tg-run: input @x: cannot read x.npy: Is a directory",
              x=None)
    yield run("an empty file",
              "tg-run: input @x: x.npy: not an npy file (it does not begin with \\x93NUMPY)", x=b"")
    yield run("text for an npy file",
              "tg-run: input @x: x.npy: not an npy file (it does not begin with \\x93NUMPY)",
              x="1 2 3\n")
    yield run("cut off in the header",
              "tg-run: input @x: x.npy: the npy header is said to be 118 bytes, but 30 are left in the file",
              x=X[:40])
    yield run("cut off in the data",
              "tg-run: input @x: x.npy: f32[4, 8] needs 128 bytes of data, the file has 123 (truncated)",
              x=X[:-5])
    yield run("more data than the shape",
              "tg-run: input @x: x.npy: f32[4, 8] needs 128 bytes of data, the file has 129 (trailing bytes)",
              x=X + b"\0")
    yield run("another type", "tg-run: buffer @x is f32[4, 8], not i32[4, 8]",
              x=npy("<i4", "(4, 8)", floats(32)))
    yield run("a type that is not known",
              "tg-run: input @x: x.npy: npy dtype '<c8'; bool, i1 to i8, u1 to u8, f2, f4 and f8 can be read",
              x=npy("<c8", "(4, 4)", floats(32)))
    yield run("another shape", "tg-run: buffer @x is f32[4, 8], not f32[8, 4]",
              x=npy("<f4", "(8, 4)", floats(32)))
    yield run("a huge shape",
              "tg-run: input @x: x.npy: the shape of f32[4611686018427387904, 8] has no size in 64 bits",
              x=npy("<f4", "(4611686018427387904, 8)", floats(32)))
    yield run("a shape that does not fit in 64 bits",
              "tg-run: input @x: x.npy: npy header, character 69: a size does not fit 64 bits",
              x=npy("<f4", "(99999999999999999999, 8)", floats(32)))
    yield run("a negative extent",
              "tg-run: input @x: x.npy: npy header, character 51: expected a size >= 0",
              x=npy("<f4", "(-4, -8)", floats(32)))
    yield run("a newer npy format",
              "tg-run: input @x: x.npy: npy format version 9.0; 1.0, 2.0, 3.0 are known",
              x=X[:6] + b"\x09\x00" + X[8:])
    yield run("no input", "tg-run: graph @main needs what is not given: input @x (f32[4, 8])",
              RUN.replace(" --input x=x.npy", ""))
    yield run("an input that the module does not have",
              "tg-run: there is no input @z; there are @x", RUN + " --input z=x.npy")
    yield run("an output given as an input", "tg-run: @y is no input but output",
              RUN + " --input y=x.npy")
    yield run("an input given twice", "tg-run: input @x is given twice", RUN + " --input x=x.npy")

    group = "Params (safetensors)"
    yield run("a missing file",
              "tg-run: param @w: cannot open w.safetensors: No such file or directory",
              weights="absent")
    yield run("an empty file",
              "tg-run: param @w: w.safetensors: not a safetensors file (0 bytes; 8 are the least)",
              weights=b"")
    yield run("cut off in the header",
              "tg-run: param @w: w.safetensors: not a safetensors file (the header is said to be 67 bytes; 22 follow, and 100000000 is the limit)",
              weights=WEIGHTS[:30])
    yield run("cut off in the data",
              'tg-run: param @w: w.safetensors: tensor "weight": data_offsets [0, 32] are outside the 29 bytes of data',
              weights=WEIGHTS[:-3])
    yield run("a header of 2^63 bytes",
              "tg-run: param @w: w.safetensors: not a safetensors file (the header is said to be 9223372036854775808 bytes; 99 follow, and 100000000 is the limit)",
              weights=safetensors(HEADER, floats(8), 1 << 63))
    yield run("a header that is not JSON",
              "tg-run: param @w: w.safetensors: safetensors header: [1:67, byte=67]: Expected , or } after object property",
              weights=safetensors(HEADER[:-1] + "]", floats(8)))
    yield run("another tensor",
              'tg-run: param @w: w.safetensors: no tensor "weight" among 1; did you mean "weights"?',
              weights=safetensors(HEADER.replace("weight", "weights"), floats(8)))
    yield run("another type",
              "tg-run: w.safetensors, tensor 'weight': buffer @w is f32[8], not i32[8]",
              weights=safetensors(HEADER.replace("F32", "I32"), floats(8)))
    yield run("another shape",
              "tg-run: w.safetensors, tensor 'weight': buffer @w is f32[8], not f32[2, 4]",
              weights=safetensors(HEADER.replace("[8]", "[2, 4]"), floats(8)))
    yield run("offsets that do not fit the shape",
              'tg-run: param @w: w.safetensors: tensor "weight": f32[8] needs 32 bytes, data_offsets [0, 28] give 28',
              weights=safetensors(HEADER.replace("32]", "28]"), floats(7)))
    yield run("offsets outside of the file",
              'tg-run: param @w: w.safetensors: tensor "weight": data_offsets [32, 64] are outside the 32 bytes of data',
              weights=safetensors(HEADER.replace("[0, 32]", "[32, 64]"), floats(8)))
    yield run("overlapping tensors",
              'tg-run: param @w: w.safetensors: tensor "b" begins at byte 16 of the data, inside the one before it, which ends at 32',
              weights=safetensors( HEADER[:-1] + ', "b": {"dtype": "F32", "shape": [8], "data_offsets": [16, 48]}}', floats(12)))
    yield run("a tensor that is there twice",
              'tg-run: param @w: w.safetensors: JSON, character 68: the key "weight" is given twice',
              weights=safetensors( HEADER[:-1] + ", " + HEADER[1:], floats(8)))
    yield run("a type that is not known",
              'tg-run: param @w: w.safetensors: tensor "weight": dtype "C64" is not known',
              weights=safetensors(HEADER.replace("F32", "C64"), floats(8)))

    group = "What is asked for"
    yield run("a missing module", "tg-run: n.uop: No such file or directory",
              RUN.replace("m.uop", "n.uop"))
    yield run("a folder for a module", "tg-run: w.safetensors: cannot be read: Is a directory",
              RUN.replace("m.uop", "w.safetensors"), weights=None)
    yield run("an unknown graph", "tg-run: there is no graph @mian; there are @main",
              RUN + " --graph=mian")
    yield run("an unknown output", "tg-run: there is no buffer @z; there are @x, @w, @y",
              RUN.replace("y=y", "z=y"))
    yield run("an unknown buffer to print", "tg-run: there is no buffer @z; there are @x, @w, @y",
              RUN + " --print=z")
    yield run("an unknown target",
              "tg-run: unknown target 'cl-cpux'; there are: ...",
              RUN_DEVICE + " --target=cl-cpux")
    yield run("a target file without a value",
              "tg-run: my.target:1: no 'key = value'",
              RUN_DEVICE + " --target=my.target", files={"my.target": "is_gpu\n"})
    yield run("an unknown target in the module",
              "tg-run: unknown target 'cl-cpux'; there are: ...",
              RUN_DEVICE, model=changed(MODEL, "module @m", 'module @m {target = "cl-cpux"}'))
    yield run("a device that is not there",
              "tg-run: no device matches 'abacus'; name one by cpu, gpu, its number or a part of its name:",
              RUN.replace("reference", "abacus"))
    yield run("a device number that is not there",
              "tg-run: no device matches '99'; name one by cpu, gpu, its number or a part of its name:",
              RUN.replace("reference", "99"))
    yield run("no value for a variable",
              "tg-run: graph @main needs what is not given: variable @n (1 to 16); give --var=n=NUMBER", RUN_N,
              model=SYMBOLIC)
    yield run("the same, on a device",
              "tg-run: graph @main needs what is not given: variable @n (1 to 16); give --var=n=NUMBER",
              RUN_N.replace("reference", "cpu"), model=SYMBOLIC)
    yield run("a variable out of its bounds",
              "tg-run: variable @n cannot be 17: its bounds are [1, 16]", RUN_N + " --var n=17",
              model=SYMBOLIC)
    yield run("a variable that is not declared", "tg-run: there is no variable @m; there are @n",
              RUN_N + " --var n=3 --var m=3", model=SYMBOLIC)
    yield run("a greatest size, of a module that is no ONNX model",
              "tg-run: --max n: it is for ONNX models; a module declares the greatest values of its variables",
              RUN_N + " --max n=3", model=SYMBOLIC)
    yield run("a variable's value that is no number",
              "tg-run: --var n=five: 'five' is not an integer", RUN_N + " --var n=five", 2,
              model=SYMBOLIC)
    yield run("a variable's value that does not fit in 64 bits",
              "tg-run: --var n=99999999999999999999: the value does not fit in 64 bits",
              RUN_N + " --var n=99999999999999999999", 2, model=SYMBOLIC)
    yield run("results that are not the expected ones",
              "tg-run: @y against x.npy: largest difference 224 (at [3, 7]: 256 and 32), more than 1e-05",
              RUN.replace("--output", "--expect").replace("y.npy", "x.npy"))
    yield run("no module", "tg-run: no module is given; see tg-run --help",
              "tg-run --device=reference", 2)
    yield run("an unknown option", "tg-run: unknown option --ouput; did you mean '--output'?",
              RUN + " --ouput y=y.npy", 2)
    yield run("an option without its value", "tg-run: --input needs a value: NAME=FILE.npy",
              "tg-run m.uop --input", 2)
    yield run("an input without a file", "tg-run: --input needs NAME=FILE.npy, not 'x'",
              "tg-run m.uop --input x", 2)

    yield run("a report of the interpreter",
              "tg-run: --report needs a device; the interpreter is none", RUN + " --report=r.html")
    yield run("a size that is none",
              "tg-run: --max-memory: '64MBit' is not a size such as 65536, 64MB or 1.5GiB",
              RUN_DEVICE + " --max-memory=64MBit", 2)
    yield run("fewer kernels than none", "tg-run: --max-kernels must be at least 0, not -1",
              RUN_DEVICE + " --max-kernels=-1", 2)
    yield run("more kernels than allowed",
              "tg-run: graph @main runs 1 kernel, more than --max-kernels=0; beyond it: 1 E_... [mul]",
              RUN_DEVICE + " --max-kernels=0")
    yield run("more memory than allowed",
              "tg-run: the buffers of graph @main take 288 B (0 B of temporaries), more than "
              "--max-memory=256; the largest: input @x f32[4, 8] 128 B, output @y f32[4, 8] 128 B, "
              "param @w f32[8] 32 B", RUN_DEVICE + " --max-memory=256")

    group = "Where tg-run writes"
    yield run("a folder that is not there",
              "tg-run: cannot write no/y.npy: No such file or directory",
              RUN.replace("y.npy", "no/y.npy"))
    yield run("a folder", "tg-run: cannot write folder: Is a directory",
              RUN.replace("y.npy", "folder"), files={"folder": None})
    yield run("two results into one file",
              "tg-run: --output y and --output x are written to one file, ./y.npy",
              RUN + " --output x=./y.npy", 2)
    yield run("an output and a trace into one file",
              "tg-run: --output y and --profile are written to one file, y.npy",
              RUN_DEVICE + " --profile=y.npy", 2)
    yield run("a report in a folder that is not there",
              "tg-run: cannot write no/y.html: No such file or directory",
              RUN_REPORT + " --report=no/y.html")
    yield run("a report and an output in one file",
              "tg-run: --output y and --report are written to one file, y.json",
              RUN_REPORT + " --output y=y.json --report=y.json", 2)
    yield run("a report that is neither a page nor JSON",
              "tg-run: --report=y.txt: a report is a page, FILE.html, or FILE.json",
              RUN_REPORT + " --report=y.txt", 2)
    yield run("a full disk", "tg-run: cannot write /dev/full: No space left on device",
              RUN.replace("y.npy", "/dev/full"))
    yield run("a disk that is full after 64 bytes", "tg-run: cannot write y.npy: File too large",
              file_limit=64)
    yield run("a trace on a full disk", "tg-run: cannot write /dev/full: No space left on device",
              RUN_TRACE)

    group = "On a device"
    yield run("a kernel that its compiler refuses",
              "tg-run: cannot compile for ...: kernel @E_..., in half2_of_uint: line ..., column ...: unknown type name 'half...'",
              RUN_DEVICE.replace("cpu", "pocl") + " --target=cl-adreno", model=HALF,
              x=npy("<f2", "(8,)", bytes(range(16))))
    yield run("more local memory than there is",
              "tg-run: kernel @fill needs 67108864 bytes of local memory; ... has ...",
              RUN_FILL, model=LOCAL)
    yield run("2^32 bytes of local memory",
              "tg-run: kernel @fill needs 4294967296 bytes of local memory; ... has ...",
              RUN_FILL, model=LOCAL.replace("16777216", "1073741824"))
    yield run("a work-group that is too large",
              "tg-run: kernel @fill: local size (1048576, 1, 1) is above ..., the limit of ...",
              RUN_FILL, model=GROUP)
    yield run("a schedule that is not legal",
              "tg-run: schedule (pass 2 of 6): kernel @fill: directive local(i0, 5): 5 does not divide the axis's size 16 (padto first)",
              RUN_FILL, model=SCHEDULE)
    yield run("a result larger than the device's memory",
              "tg-run: graph @main needs 4.40 TB of memory (0 B of it for temporaries) on ..., where ... of ... are available",
              RUN_DEVICE, model=HUGE, x=npy("<f4", "(1,)", floats(1)))

    yield run("an open dimension whose greatest size exceeds the device's memory",
              "tg-run: graph @main needs 4.40 TB of memory (0 B of it for temporaries) on ..., where ... of ... are "
              "available; it was compiled for @n from 1 to 1048576 and has 1048576; --var=n=1 makes it smaller",
              "tg-run m.uop --device=cpu --random-inputs=1 --output y=y.npy", model=OPEN)

    group = "Larger than any memory"
    yield run("a value, interpreted",
              "tg-run: graph @main, line 8: expand %#1: the interpreter would hold 48378.5 GB at this value, 48378.5 GB of it for the value (shape [1099511627776]); it may hold ...",
              model=HUGE, x=npy("<f4", "(1,)", floats(1)))
    yield run("random inputs", "tg-run: random inputs take 4.40 TB of memory, where ... are available",
              "tg-run m.uop --device=cpu --random-inputs=1 --output y=y.npy",
              model=HUGE.replace("[1]", "[1099511627776]"))


RUN_CASES = list(_cases())
