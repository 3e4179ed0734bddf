"""Mistakes in tg-opt's command line, in where it writes, and what only passes find."""

from case import Case, changed
from text_cases import GRAPH, KERNEL

HUGE = changed(GRAPH, "buffer @x : f32[4, 8]", "buffer @x : f32[4, 281474976710656]").replace(
    "buffer @y : f32[4, 8]", "buffer @y : f32[4, 281474976710656]")


def _cases():
    def opt(what, arguments, error, code=1, model=GRAPH, **more):
        files = {"m.uop": model, **more.pop("files", {})}
        return Case(group, what, "tg-opt m.uop " + arguments, error, code, files, **more)

    group = "tg-opt's command line"
    yield opt("an unknown option", "--emti=opencl", "", 2)
    yield opt("an option without its value", "--pass", "", 2)
    yield opt("an unknown value", "--emit=ptx", "", 2)
    yield opt("an unknown pass", "--pass=kernelise", "", 2)
    yield opt("an unknown option of a pass", "--pass=kernelize:max-input=3", "", 2)
    yield opt("an option of a pass that is no number", "--pass=kernelize:max-inputs=few", "", 2)
    yield opt("an option of a pass that does not fit in 64 bits",
              "--pass=kernelize:max-inputs=99999999999999999999", "", 2)
    yield opt("a pipeline that ends in a comma", "--pass=kernelize,", "", 2)
    yield opt("an unknown pass to print after", "--print-after=lowre", "", 2)
    yield opt("an unknown target", "--target=cl-cpux", "", 2)
    yield opt("a bisect limit that is no number", "--opt-bisect-limit=all", "", 2)
    yield opt("a bisect limit that does not fit in 64 bits", "--opt-bisect-limit=99999999999999999999", "", 2)
    yield opt("two inputs", "n.uop", "", 2)

    group = "tg-opt's files"
    yield Case(group, "a missing file", "tg-opt n.uop", "")
    yield Case(group, "a folder", "tg-opt m.uop", "", files={"m.uop": None})
    yield opt("written into a folder that is not there", "-o no/out.uop", "")
    yield opt("written over a folder", "-o folder", "", files={"folder": None})
    yield opt("written to a full disk", "-o /dev/full", "")
    yield opt("a disk that is full after 64 bytes", "-o out.uop", "", file_limit=64)
    yield opt("a file for the folder of dumps", "--pass=kernelize --dump-dir=m.uop", "")

    group = "Found by passes"
    yield opt("an unknown target in the module", "--pass=kernelize,optimize",
              "", model=changed(GRAPH, "cl-cpu", "cl-cpux"))
    yield opt("an unknown opt", "--pass=optimize", "", model=changed(KERNEL, "local(i0, 4)", "tile(i0, 4)"))
    yield opt("an opt without its axis", "--pass=optimize", "", model=changed(KERNEL, "local(i0, 4)", "local()"))
    yield opt("an opt on an axis that is not there", "--pass=optimize", "",
              model=changed(KERNEL, "local(i0, 4)", "local(i1, 4)"))
    yield opt("an opt on the wrong kind of axis", "--pass=optimize", "",
              model=changed(KERNEL, "local(i0, 4)", "unroll(i0, 4)"))
    yield opt("an opt that does not divide its axis", "--pass=optimize", "",
              model=changed(KERNEL, "local(i0, 4)", "local(i0, 5)"))
    yield opt("an opt with a huge amount", "--pass=optimize", "",
              model=changed(KERNEL, "local(i0, 4)", "local(i0, 9223372036854775807)"))
    yield opt("an opt that makes the work-group too large", "--pass=optimize", "",
              model=KERNEL.replace("16]", "1048576]").replace("i0:16", "i0:1048576").replace(
                  "f32, 16>", "f32, 1048576>").replace("local(i0, 4)", "local(i0)"))
    yield opt("OpenCL from kernels that are not linear", "--pass=optimize --emit=opencl --opt-bisect-limit=0", "", model=KERNEL)
    yield opt("checked on inputs larger than any memory", "--pass=kernelize --check", "", model=HUGE)


CLI_CASES = list(_cases())
