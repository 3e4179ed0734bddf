"""Models: opened, called, looked into, compiled."""

from __future__ import annotations

import ctypes
import html
import math
import os
import re
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np

from tg import _library
from tg._arrays import address_of, as_array, dtype_of, new_array, pool_for, type_of
from tg._library import Closing, InvalidArgument, check, encode, library, new, take_text

Source = Union[str, "os.PathLike[str]", bytes, Any]
Progress = Union[bool, Callable[[str, float], Any], None]

_TABLE, _JSON, _HTML = range(3)
_tg_call = library.tg_call
_VARIABLE = re.compile(r'@("[^"]*"|[\w.]+)')  # in the text of a type and shape


@dataclass(frozen=True)
class TensorInfo:
    """An input, output, state or param of a model."""

    name: str
    text: str  # type and shape as tg writes them: "f32[@n, 3]"
    dtype: np.dtype | None
    min_shape: tuple[int, ...]  # an extent is between these two
    max_shape: tuple[int, ...]
    has_contents: bool  # the model defines them
    _type: int = field(default=0, repr=False)  # tg_type

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The extents; None for one that is open."""
        return tuple(a if a == b else None for a, b in zip(self.min_shape, self.max_shape))


def _dims(info: TensorInfo) -> list[str]:
    return info.text.partition("[")[2].rstrip("]").split(", ")


@dataclass(frozen=True)
class Variable:
    """A size that is open between two bounds."""

    name: str
    min: int
    max: int


@dataclass(frozen=True)
class Kernel:
    """A launch of a graph."""

    name: str
    what: str  # what it computes
    schedule: str  # its axes and directives
    source: str  # OpenCL C, or LLVM's assembly language for the CPU
    device: str
    seconds: float | None  # the least of all runs; None: it was not timed
    is_copy: bool
    depends_on_input: bool


class Profile:
    """The times of a model's kernels. print() gives a table, a notebook shows one."""

    def __init__(self, kernels: list[Kernel], table: str, json: str, html: str):
        self.kernels = kernels
        self.json = json  # the report as data, for tg-report
        self.html = html  # the report as a page
        self._table = table

    def __str__(self) -> str:
        return self._table

    __repr__ = __str__

    def _repr_html_(self) -> str:
        seconds = [kernel.seconds or 0 for kernel in self.kernels]
        total = sum(seconds) or 1
        rows = "".join(
            "<tr><td style='text-align:left'>%s</td><td>%.1f</td><td>%.0f %%</td><td style='text-align:left'>%s</td></tr>"
            % (html.escape(kernel.name), 1e6 * s, 100 * s / total, html.escape(kernel.what))
            for kernel, s in zip(self.kernels, seconds))
        return ("<table><tr><th>kernel</th><th>time [us]</th><th>share</th><th>computes</th></tr>%s</table>" % rows)


class _Callback:
    """A progress function as tg calls it, and what it raises."""

    def __init__(self, progress: Progress):
        self.function = None
        self._error: BaseException | None = None
        if not progress:
            return
        tell = _print_progress if progress is True else progress

        def call(_context: Any, step: bytes, done: float) -> int:
            try:
                return int(tell(step.decode(), done) is False)
            except BaseException as error:  # raised again once tg has returned
                self._error = error
                return 1

        self.function = _library.Progress(call)

    def check(self, status: int) -> None:
        if self._error is not None:
            raise self._error
        check(status)


class _Options:
    """tg_load_options, and the objects that it points at."""

    def __init__(self, *, device: str, format: str, path: str | None, sizes: Mapping[str, int],
                 max_sizes: Mapping[str, int], inputs: Mapping[str, Any], profile: bool, float16: bool,
                 progress: Progress):
        self.struct = options = new(_library.LoadOptions)
        options.device, options.format, options.path = encode(device), encode(format), encode(path)
        self.owned: list[Any] = []
        options.size_names, options.size_values, options.num_sizes = self._sizes(sizes)
        options.max_names, options.max_values, options.num_maxes = self._sizes(max_sizes)
        options.inputs, options.num_inputs = self._inputs(inputs)
        options.profile, options.float16 = int(profile), int(float16)
        self.callback = _Callback(progress)
        if self.callback.function is not None:
            options.progress = self.callback.function
        self.check = self.callback.check

    def _sizes(self, sizes: Mapping[str, int]) -> tuple[Any, Any, int]:
        names = (ctypes.c_char_p * len(sizes))(*[name.encode() for name in sizes])
        values = (ctypes.c_int64 * len(sizes))(*[int(value) for value in sizes.values()])
        self.owned += [names, values]
        return names, values, len(sizes)

    def _inputs(self, inputs: Mapping[str, Any]) -> tuple[Any, int]:
        tensors = (_library.Tensor * len(inputs))()
        for tensor, (name, value) in zip(tensors, inputs.items()):
            tensor.size = ctypes.sizeof(_library.Tensor)
            tensor.name = name.encode()
            if isinstance(value, tuple):  # a shape alone
                tensor.type, shape = type_of(np.dtype(np.float32)), value
            else:
                array = as_array(value, np.asarray(value).dtype, name)
                tensor.type, shape = type_of(array.dtype), array.shape
                tensor.data, tensor.bytes = address_of(array), array.nbytes
                self.owned.append(array)
            _set_shape(tensor, shape, name)
        self.owned.append(tensors)
        return tensors, len(inputs)


def _print_progress(step: str, done: float) -> None:
    end = "\r\033[K" if step == "open" else ""
    sys.stderr.write("\r\033[Ktg: %s %3.0f %%%s" % (step, 100 * done, end))
    sys.stderr.flush()


def _set_shape(tensor: _library.Tensor, shape: Sequence[int], name: str) -> None:
    if len(shape) > _library.MAX_RANK:
        raise InvalidArgument("@%s: its rank is %d, above %d" % (name, len(shape), _library.MAX_RANK))
    tensor.rank = len(shape)
    for axis, extent in enumerate(shape):
        tensor.shape[axis] = extent


def _bytes_of(source: Source) -> bytes | None:
    """The bytes of a model in memory; None for a path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, "SerializeToString"):  # onnx.ModelProto
        return source.SerializeToString()
    return None


class Model(Closing):
    """A model that is ready to run. tg.load makes it.

    Calling it sets the inputs, runs it, and returns the output, or a dict of outputs by name if there are
    several. Inputs are given in their order or by name, as arrays of numpy, tensors of other libraries (by
    DLPack), numbers or lists. An input that is not given is the array that was given last, with what is in
    it now. Calls from several threads run one after the other.
    """

    def __init__(self, source: Source, **options: Any):
        self._handle = 0
        self._lock = threading.RLock()
        self._source, self._options = source, options
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        opened = _Options(**options)
        handle = ctypes.c_uint64()
        data = _bytes_of(source)
        if data is not None:
            opened.check(library.tg_load_memory(data, len(data), opened.struct, ctypes.byref(handle)))
        else:
            opened.check(library.tg_load(os.fsencode(source), opened.struct, ctypes.byref(handle)))
        self._handle = handle.value
        self.inputs, self.outputs, self.states, self.params = map(self._infos, range(4))
        self.variables = self._variables()
        self.graphs = self._graphs()
        self._settable = {info.name: info for info in self.inputs + self.states + self.params}
        self._in = self._structs(self.inputs)
        self._out = self._structs(self.outputs)
        self._in_places = list(self._in)  # an index into an array of ctypes makes an object each time
        self._in_shapes: list[Any] = [None] * len(self.inputs)
        # A call lends its arrays to the library, which may keep no copy of them: the last one of each
        # input, None if the library has it, and the results of the last call.
        self._last: list[np.ndarray | None] = [None] * len(self.inputs)
        self._results: list[np.ndarray] = []
        # What outputs are made of, if their shapes are known before a call: those of a fixed shape always,
        # others after a call with the same shapes of all inputs, where these decide them.
        self._fixed: list[Any] = []
        self._follows_inputs = False
        if all(info.shape == info.max_shape and info.dtype is not None for info in self.outputs):
            self._fix([info.max_shape for info in self.outputs])
        else:
            given = {dim[1:] for info in self.inputs for dim in _dims(info) if _VARIABLE.fullmatch(dim)}
            self._follows_inputs = all(info.dtype is not None and given.issuperset(_VARIABLE.findall(info.text))
                                       for info in self.outputs)

    # --- What it is -----------------------------------------------------------------------------------

    def _fix(self, shapes: Sequence[tuple[int, ...]]) -> None:
        self._fixed = [(struct, shape, info.dtype, pool_for(shape, info.dtype))
                       for struct, shape, info in zip(self._out, shapes, self.outputs)]
        for struct, shape, dtype, _ in self._fixed:
            struct.bytes = math.prod(shape) * dtype.itemsize

    def _infos(self, role: int) -> list[TensorInfo]:
        infos = []
        for index in range(_library.count(library.tg_count, self._handle, role)):
            info = new(_library.TensorInfo)
            check(library.tg_info(self._handle, role, index, info))
            rank = min(info.rank, _library.MAX_RANK)
            infos.append(TensorInfo(info.name.decode(), info.text.decode(), dtype_of(info.type),
                                    tuple(info.min_shape[:rank]), tuple(info.max_shape[:rank]),
                                    bool(info.has_contents), info.type))
        return infos

    def _variables(self) -> list[Variable]:
        variables = []
        for index in range(_library.count(library.tg_count_variables, self._handle)):
            info = new(_library.VariableInfo)
            check(library.tg_variable(self._handle, index, info))
            variables.append(Variable(info.name.decode(), info.min, info.max))
        return variables

    def _graphs(self) -> list[str]:
        names = []
        for index in range(_library.count(library.tg_count_graphs, self._handle)):
            name = ctypes.c_char_p()
            check(library.tg_graph(self._handle, index, ctypes.byref(name)))
            names.append((name.value or b"").decode())
        return names

    @staticmethod
    def _structs(infos: Sequence[TensorInfo]) -> Any:
        structs = (_library.Tensor * len(infos))()
        for struct, info in zip(structs, infos):
            struct.size = ctypes.sizeof(_library.Tensor)
            struct.name = info.name.encode()
            struct.type = info._type
            struct.lend = 1
        return structs

    def __repr__(self) -> str:
        def listed(infos: Sequence[TensorInfo]) -> str:
            return ", ".join("%s: %s" % (info.name, info.text) for info in infos)
        return "<tg.Model (%s) -> %s>" % (listed(self.inputs), listed(self.outputs))

    # --- Running it -----------------------------------------------------------------------------------

    def __call__(self, *args: Any, graph: str | None = None, **kwargs: Any) -> Any:
        if len(args) > len(self.inputs):
            raise InvalidArgument("%d inputs are given, of %d" % (len(args), len(self.inputs)))
        with self._lock:
            if len(args) == len(self.inputs) and not kwargs:
                self._last = [self._fill(i, value) for i, value in enumerate(args)]
                return self._call(graph, self._in, len(args))
            if self._follows_inputs:
                self._fixed = []
            inputs, arrays = self._given(args, kwargs)
            self._last = [arrays.get(info.name) for info in self.inputs]
            return self._call(graph, inputs, len(inputs))

    def _fill(self, index: int, value: Any) -> np.ndarray:
        info = self.inputs[index]
        array = as_array(value, info.dtype, info.name)
        struct = self._in_places[index]
        if array.shape != self._in_shapes[index]:
            _set_shape(struct, array.shape, info.name)
            struct.bytes = array.nbytes
            self._in_shapes[index] = array.shape
            if self._follows_inputs:
                self._fixed = []
        struct.data = address_of(array)
        return array

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, dict[str, np.ndarray]]:
        given = {info.name: value for info, value in zip(self.inputs, args)}
        for name, value in kwargs.items():
            if name in given:
                raise InvalidArgument("input '%s' is given twice" % name)
            given[name] = value
        for info, array in zip(self.inputs, self._last):
            if array is not None:
                given.setdefault(info.name, array)
        inputs = (_library.Tensor * len(given))()
        arrays = {name: self._tensor(inputs[i], name, value) for i, (name, value) in enumerate(given.items())}
        for struct in inputs:
            struct.lend = 1
        return inputs, arrays

    def _tensor(self, struct: _library.Tensor, name: str, value: Any) -> np.ndarray:
        info = self._settable.get(name)
        if info is None:
            raise _library.NotFound("there is no input '%s'; there are %s"
                                    % (name, ", ".join(info.name for info in self.inputs)))
        array = as_array(value, info.dtype, name)
        struct.size = ctypes.sizeof(_library.Tensor)
        struct.name = name.encode()
        struct.type = info._type
        _set_shape(struct, array.shape, name)
        struct.data, struct.bytes = address_of(array), array.nbytes
        return array

    def _call(self, graph: str | None, inputs: Any, count: int) -> Any:
        self._results = []
        if not self._fixed:
            check(_tg_call(self._handle, encode(graph), inputs, count, None, 0))
            results = [self._read(info.name) for info in self.outputs]
            if self._follows_inputs and inputs is self._in:
                self._fix([array.shape for array in results])
        else:
            results = []
            for struct, shape, dtype, pool in self._fixed:
                array = np.empty(shape, dtype) if pool is None else new_array(pool, shape, dtype)
                struct.data = address_of(array)
                results.append(array)
            status = _tg_call(self._handle, encode(graph), inputs, count, self._out, len(results))
            if status:
                _library.raise_error(status)
            self._results = results
        if len(results) == 1:
            return results[0]
        return {info.name: array for info, array in zip(self.outputs, results)}

    def set(self, name: str, value: Any) -> None:
        """Sets the contents of an input, state or param, which it keeps."""
        struct = _library.Tensor()
        with self._lock:
            array = self._tensor(struct, name, value)
            check(library.tg_set(self._handle, struct))
            self._last = [None if info.name == name else last for info, last in zip(self.inputs, self._last)]
            del array  # it was alive until now

    def _hand_over(self) -> None:
        """Has the library copy what calls have lent."""
        for info, array in zip(self.inputs, self._last):
            if array is not None:
                self.set(info.name, array)

    def set_variable(self, name: str, value: int) -> None:
        """Sets a variable that no input's shape decides."""
        check(library.tg_set_variable(self._handle, name.encode(), value))

    def run(self, graph: str | None = None) -> None:
        """Runs a graph on the contents that are there."""
        with self._lock:
            self._hand_over()
            self._results = []
            check(library.tg_run(self._handle, encode(graph)))

    def get(self, name: str) -> np.ndarray:
        """The contents of an output, input, state or param."""
        with self._lock:
            if any(info.name == name for info in self.inputs):
                self._hand_over()
            for info, array in zip(self.outputs, self._results):
                if info.name == name:
                    return array.copy()
            return self._read(name)

    def _read(self, name: str) -> np.ndarray:
        struct = new(_library.Tensor)
        struct.name = name.encode()
        check(library.tg_get(self._handle, struct))
        array = np.empty(struct.shape[:struct.rank], dtype_of(struct.type))
        struct.data, struct.bytes = address_of(array), array.nbytes
        check(library.tg_get(self._handle, struct))
        return array

    # --- Looking into it ------------------------------------------------------------------------------

    def kernels(self, graph: str | None = None) -> list[Kernel]:
        """The launches of a graph, in order."""
        found = []
        for index in range(_library.count(library.tg_count_kernels, self._handle, encode(graph))):
            info = new(_library.KernelInfo)
            check(library.tg_kernel(self._handle, encode(graph), index, info))
            found.append(Kernel(info.name.decode(), info.what.decode(), info.schedule.decode(), info.source.decode(),
                                info.device.decode(), None if info.seconds < 0 else info.seconds, bool(info.is_copy),
                                bool(info.depends_on_input)))
        return found

    def report(self, form: str = "table") -> str:
        """A report of the runs of a model that was loaded with profile=True: "table", "json" or "html"."""
        forms = {"table": _TABLE, "json": _JSON, "html": _HTML}
        if form not in forms:
            raise InvalidArgument("there is no form '%s'; there are table, json, html" % form)
        handle = ctypes.c_uint64()
        check(library.tg_report(self._handle, forms[form], ctypes.byref(handle)))
        return take_text(handle)

    def profile(self, *args: Any, runs: int = 10, graph: str | None = None, **kwargs: Any) -> Profile:
        """Runs the model with each kernel timed, and returns the least times.

        The runs are of another model, opened from the same source, since timing costs time; states and
        params that were set are not those of this model.
        """
        if runs < 1:
            raise InvalidArgument("%d runs" % runs)
        with Model(self._source, **{**self._options, "profile": True, "progress": None}) as timed:
            for _ in range(runs):
                timed(*args, graph=graph, **kwargs)
            return Profile(timed.kernels(graph), timed.report("table"), timed.report("json"), timed.report("html"))

    # --- Its end --------------------------------------------------------------------------------------

    def close(self) -> None:
        """Gives up the model's memory now. Later calls raise tg.Closed."""
        handle, self._handle = self._handle, 0
        self._last, self._results, self._fixed = [], [], []
        if handle:
            check(library.tg_close(handle))
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


class Compiled:
    """A model that tg.compile has compiled: what a .tgx file holds."""

    def __init__(self, folder: "tempfile.TemporaryDirectory[str]", path: str):
        self._folder, self._path = folder, path

    @property
    def nbytes(self) -> int:
        """The size of the file."""
        return os.path.getsize(self._path)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the file, which tg.load opens without a compile."""
        shutil.copyfile(self._path, path)

    def load(self, **options: Any) -> Model:
        """Opens it."""
        from tg import load
        model = load(self._path, **options)
        model._owner = self  # type: ignore[attr-defined]  # its weights stay in the file
        return model
