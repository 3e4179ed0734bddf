"""tg: a compiler and runtime for tensor programs.

    import tg
    model = tg.load("model.onnx")
    y = model(x)

Everything that goes wrong is a tg.Error.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from typing import Any, Mapping, Union

from tg import _library
from tg._language_model import LanguageModel, Reply, Stream
from tg._library import (Cancelled, Closed, Error, FailedPrecondition, InternalError, InvalidArgument, NotFound,
                         ResourceExhausted, Unimplemented)
from tg._model import Compiled, Kernel, Model, Profile, Progress, Source, TensorInfo, Variable, _bytes_of, _Options

__version__: str = _library.library.tg_version().decode()
__all__ = ["Cancelled", "Closed", "Compiled", "Error", "FailedPrecondition", "InternalError", "InvalidArgument",
           "Kernel", "LanguageModel", "Model", "NotFound", "Profile", "Reply", "ResourceExhausted", "Stream", "TensorInfo", "Unimplemented", "Variable",
           "compile", "devices", "from_tinygrad", "load", "opt", "set_threads"]


def load(source: Source, *, device: str = "", format: str = "auto", path: str | None = None,
         sizes: Mapping[str, int] = {}, max_sizes: Mapping[str, int] = {}, inputs: Mapping[str, Any] = {},
         profile: bool = False, float16: bool = False, progress: Progress = None) -> Model:
    """Reads and compiles a model.

    source: the path or the bytes of an ONNX model, a module of tg (.uop), a graph that tinygrad prints, a
        text model (.gguf) or a compiled model (.tgx); or an onnx.ModelProto.
    device: "cpu", "gpu", "gpu:1", a part of a device's name, or "reference", the interpreter. By default a
        GPU if there is one, else the CPU.
    format: "auto", "uop", "tinygrad", "onnx", "gguf" or "tgx".
    path: of bytes, the file that they come from, in whose folder the model's other files are.
    sizes, max_sizes: of an ONNX model's open dimensions: their sizes, or their greatest ones, which are
        1024 by default.
    inputs: for an ONNX model, inputs as they will be given, or their shapes as tuples: shapes fix open
        dimensions, and contents are used where they decide what the model computes.
    profile: kernels are timed in each run.
    float16: weights and intermediate results are stored as halves.
    progress: True prints how far the load is; a function is called with the step and what is done of it,
        from 0 to 1, and cancels by returning False.
    """
    return Model(source, device=device, format=format, path=path, sizes=sizes, max_sizes=max_sizes, inputs=inputs,
                 profile=profile, float16=float16, progress=progress)


def compile(source: Source, *, device: str = "", format: str = "auto", path: str | None = None,  # noqa: A001
            sizes: Mapping[str, int] = {}, max_sizes: Mapping[str, int] = {}, inputs: Mapping[str, Any] = {},
            float16: bool = False, progress: Progress = None) -> Compiled:
    """Compiles a model for a device of this machine; the options are those of load.

    compile("model.onnx").save("model.tgx") writes a file that load opens without a compile.
    """
    options = _Options(device=device, format=format, path=path, sizes=sizes, max_sizes=max_sizes, inputs=inputs,
                       profile=False, float16=float16, progress=progress)
    folder = tempfile.TemporaryDirectory(prefix="tg-")
    output = os.path.join(folder.name, "model.tgx")
    data = _bytes_of(source)
    if data is not None:
        status = _library.library.tg_compile_memory(data, len(data), options.struct, os.fsencode(output))
    else:
        status = _library.library.tg_compile(os.fsencode(source), options.struct, os.fsencode(output))
    options.check(status)
    return Compiled(folder, output)


def opt(text: Union[str, bytes], passes: str = "default", *, emit: str = "uop", format: str = "auto",
        target: str = "", path: str = "<text>") -> str:
    """Runs passes on the text of a module and returns it, as tg-opt does.

    passes: a pipeline such as "kernelize,lower:max=8"; "default" is tg's, "" none.
    emit: "uop"; or source of the kernels, for which the passes that are left run: "opencl", "c", "c99",
        "llvm".
    target: what to compile for, if the text does not say it: "cl-gpu", "cl-cpu", ...
    path: the name of the text in messages.
    """
    options = _library.new(_library.OptOptions)
    for name, value in (("passes", passes), ("emit", emit), ("format", format), ("target", target), ("path", path)):
        setattr(options, name, _library.encode(value))
    data = text.encode() if isinstance(text, str) else bytes(text)
    handle = ctypes.c_uint64()
    _library.check(_library.library.tg_opt(data, len(data), options, ctypes.byref(handle)))
    return _library.take_text(handle)


def devices() -> list[str]:
    """The machine's devices, each as a line."""
    handle = ctypes.c_uint64()
    _library.check(_library.library.tg_devices(ctypes.byref(handle)))
    return [line.strip() for line in _library.take_text(handle).splitlines()]


def set_threads(threads: int) -> None:
    """How many threads compile, and run kernels on the CPU; 0: one for each processor.

    Raises FailedPrecondition once a model was opened or devices were listed.
    """
    _library.check(_library.library.tg_set_threads(threads))


def from_tinygrad(outputs: Any, inputs: Mapping[str, Any] = {}, params: Mapping[str, Any] = {},
                  **options: Any) -> Model:
    """A model of the graph behind a tensor of tinygrad, or behind a dict of tensors by the outputs' names.

    inputs: tensors that the model takes, by name. Other buffers that are realized are its weights, which
        have the names that `params` gives them.
    options: those of load.
    """
    from tg._export_tinygrad import export
    named = outputs if isinstance(outputs, Mapping) else {"y": outputs}
    folder = tempfile.TemporaryDirectory(prefix="tg-")
    path = os.path.join(folder.name, "graph.repr")
    export(path, outputs=dict(named), inputs=dict(inputs), params=dict(params))
    model = load(path, **options)
    model._folder = folder  # it has the weights
    return model
