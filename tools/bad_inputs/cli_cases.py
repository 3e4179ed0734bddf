"""Mistakes in tg-opt's command line and output paths, and mistakes that only passes find."""

from case import Case, changed
from text_cases import GRAPH, KERNEL

HUGE = changed(GRAPH, "buffer @x : f32[4, 8]", "buffer @x : f32[4, 281474976710656]").replace(
    "buffer @y : f32[4, 8]", "buffer @y : f32[4, 281474976710656]")


def _cases():
    def opt(what, arguments, error, code=1, model=GRAPH, **more):
        files = {"m.uop": model, **more.pop("files", {})}
        return Case(group, what, "tg-opt m.uop " + arguments, error, code, files, **more)

    group = "tg-opt's command line"
    yield opt("an unknown option", "--emti=opencl",
              "tg-opt: unknown option --emti; did you mean '--emit'?", 2)
    yield opt("an option without its value", "--pass", "tg-opt: --pass needs a value: PIPELINE", 2)
    yield opt("an unknown value", "--emit=ptx",
              "tg-opt: --emit must be one of uop, opencl, c, c-header, c99, c99-header, llvm, asm (it is 'ptx')", 2)
    yield opt("an unknown pass", "--pass=kernelise",
              "tg-opt: --pass: pipeline, column 1: unknown pass 'kernelise'; did you mean 'kernelize'?",
              2)
    yield opt("an unknown option of a pass", "--pass=kernelize:max-input=3",
              "tg-opt: --pass: pipeline, column 11: pass 'kernelize' has no option 'max-input'; did you mean 'max-inputs'?",
              2)
    yield opt("an option of a pass that is no number", "--pass=kernelize:max-inputs=few",
              "tg-opt: --pass: pipeline, column 22: option 'max-inputs' of pass 'kernelize' must be an integer, not 'few'",
              2)
    yield opt("an option of a pass that does not fit in 64 bits",
              "--pass=kernelize:max-inputs=99999999999999999999",
              "tg-opt: --pass: pipeline, column 22: option 'max-inputs' of pass 'kernelize' does not fit in 64 bits, not '99999999999999999999'",
              2)
    yield opt("a pipeline that ends in a comma", "--pass=kernelize,",
              "tg-opt: --pass: pipeline, column 11: expected the name of a pass", 2)
    yield opt("an unknown pass to print after", "--print-after=lowre",
              "tg-opt: --print-after: unknown pass 'lowre'; there are: ...",
              2)
    yield opt("an unknown target", "--target=cl-cpux",
              "tg-opt: --target: unknown target 'cl-cpux'; did you mean 'cl-cpu'?", 2)
    yield opt("a missing target file", "--target=my.target",
              "tg-opt: --target: my.target: No such file or directory", 2)
    yield opt("an unknown field in a target file", "--target=my.target",
              "tg-opt: --target: my.target:2: no field 'cores'", 2,
              files={"my.target": "name = mine\ncores = 4\n"})
    yield opt("a field of a target file that is no number", "--target=my.target",
              "tg-opt: --target: my.target:1: compute_units: 'four' is not an integer", 2,
              files={"my.target": "compute_units = four\n"})
    yield opt("a bisect limit that is no number", "--opt-bisect-limit=all",
              "tg-opt: --opt-bisect-limit must be an integer (it is 'all')", 2)
    yield opt("a bisect limit that does not fit in 64 bits",
              "--opt-bisect-limit=99999999999999999999",
              "tg-opt: --opt-bisect-limit does not fit in 64 bits (it is '99999999999999999999')",
              2)
    yield opt("two inputs", "n.uop", "tg-opt: one input, not m.uop and n.uop", 2)

    group = "tg-opt's files"
    yield Case(group, "a missing file", "tg-opt n.uop", "tg-opt: n.uop: No such file or directory")
    yield Case(group, "a folder", "tg-opt m.uop", "tg-opt: m.uop: cannot be read: Is a directory",
               files={"m.uop": None})
    yield opt("written into a folder that is not there", "-o no/out.uop",
              "tg-opt: cannot write no/out.uop: No such file or directory")
    yield opt("written over a folder", "-o folder", "tg-opt: cannot write folder: Is a directory",
              files={"folder": None})
    yield opt("written to a full disk", "-o /dev/full",
              "tg-opt: cannot write /dev/full: No space left on device")
    yield opt("a disk that is full after 64 bytes", "-o out.uop",
              "tg-opt: cannot write out.uop: File too large", file_limit=64)
    yield opt("a file for the folder of dumps", "--pass=kernelize --dump-dir=m.uop",
              "tg-opt: cannot write m.uop: Not a directory")

    group = "Found by passes"
    yield opt("an unknown target in the module", "--pass=kernelize,schedule",
              "tg-opt: unknown target 'cl-cpux'; there are: ...",
              model=changed(GRAPH, "cl-cpu", "cl-cpux"))
    yield opt("an unknown directive", "--pass=schedule",
              "tg-opt: schedule (pass 1 of 1): kernel @double: directive tile(i0, 4): no such directive; there are: ...",
              model=changed(KERNEL, "local(i0, 4)", "tile(i0, 4)"))
    yield opt("a directive without its axis", "--pass=schedule",
              "tg-opt: schedule (pass 1 of 1): kernel @double: directive local(): an argument is missing; the form is local(AXIS[, N])",
              model=changed(KERNEL, "local(i0, 4)", "local()"))
    yield opt("a directive on an axis that is not there", "--pass=schedule",
              "tg-opt: schedule (pass 1 of 1): kernel @double: directive local(i1, 4): no axis 'i1'; there are: i0",
              model=changed(KERNEL, "local(i0, 4)", "local(i1, 4)"))
    yield opt("a directive on the wrong kind of axis", "--pass=schedule",
              "tg-opt: schedule (pass 1 of 1): kernel @double: directive unroll(i0, 4): axis i0 is global",
              model=changed(KERNEL, "local(i0, 4)", "unroll(i0, 4)"))
    yield opt("a directive that does not divide its axis", "--pass=schedule",
              "tg-opt: schedule (pass 1 of 1): kernel @double: directive local(i0, 5): 5 does not divide the axis's size 16 (padto first)",
              model=changed(KERNEL, "local(i0, 4)", "local(i0, 5)"))
    yield opt("a directive with a huge amount", "--pass=schedule",
              "tg-opt: schedule (pass 1 of 1): kernel @double: directive local(i0, 9223372036854775807): 9223372036854775807 does not divide the axis's size 16 (padto first)",
              model=changed(KERNEL, "local(i0, 4)", "local(i0, 9223372036854775807)"))
    yield opt("a directive that makes the work-group too large", "--pass=schedule",
              "tg-opt: schedule (pass 1 of 1): kernel @double: directive local(i0): a group of 1048576 work-items; target cl-cpu allows 4096",
              model=KERNEL.replace("16]", "1048576]").replace("i0:16", "i0:1048576").replace( "f32, 16>", "f32, 1048576>").replace("local(i0, 4)", "local(i0)"))
    yield opt("OpenCL from kernels that are not linear",
              "--pass=schedule --emit=opencl --opt-bisect-limit=0",
              "tg-opt: opencl: kernel @double is at stage kernel; it has to be at stage linear", model=KERNEL)
    yield opt("checked on inputs larger than any memory", "--pass=kernelize --check",
              "tg-opt: out of memory", model=HUGE)


CLI_CASES = list(_cases())
