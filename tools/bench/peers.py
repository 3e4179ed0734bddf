"""The peers of tg-bench: numpy (with the BLAS that it was built with), ONNX Runtime, PyTorch, tinygrad.

    tg-bench --peers=tools/bench/peers.py [--python=PYTHON]

Reads requests from standard input, a JSON object a line, and answers in the same form; peers.h lists
them. What is installed takes part. A peer that lacks an operation leaves the row out.
"""

import json
import os
import sys
import time

# Settings that keep OpenBLAS below what the machine can do.
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)

import numpy as np  # noqa: E402 (the environment comes first)


def swapped(row, b):
    return b.T if row["b_transposed"] else b


class Numpy:
    name = "numpy"

    def __init__(self):
        self.version = np.__version__
        try:
            blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
            self.version += ", %s %s" % (blas["name"], blas["version"])
        except (KeyError, TypeError):
            pass

    def open(self, row, x):
        work = row["work"]
        a = x["a"]
        if work == "matmul" and row["type"] == "f32":
            out = np.empty((a.shape[0], swapped(row, x["b"]).shape[1]), np.float32)
            return lambda: np.matmul(a, swapped(row, x["b"]), out=out)
        if work == "transpose":
            out = np.empty(a.shape[::-1], a.dtype)

            def transpose():
                np.copyto(out, a.T)
                return out
            return transpose
        axes = {"sum-rows": 1, "sum-columns": 0, "sum-all": None}
        if work in axes:
            return lambda: np.sum(a, axis=axes[work]).reshape(-1)
        return None


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self):
        import onnx
        import onnxruntime
        self.onnx, self.ort = onnx, onnxruntime
        self.version = onnxruntime.__version__

    def open(self, row, x):
        """Weights of convolutions and norms are initializers, as in a network; b of a product is an input."""
        helper, work = self.onnx.helper, row["work"]
        constants = [n for n in row["operands"] if n in ("weight", "scale", "shift")]
        nodes, attributes, kind, out_type = [], {}, None, x["a"].dtype
        inputs = list(row["operands"])
        if work == "matmul":
            kind = "MatMul"
            if row["type"] == "i8":
                kind, out_type = "MatMulInteger", np.dtype(np.int32)
            if row["b_transposed"]:
                nodes.append(helper.make_node("Transpose", ["b"], ["bt"], perm=[1, 0]))
                inputs = ["a", "bt"]
                if row["type"] != "i8":  # the runtime has it as one operation
                    nodes, kind, inputs, attributes = [], "Gemm", ["a", "b"], {"transB": 1}
        elif work == "softmax":
            kind, attributes = "Softmax", {"axis": 1}
        elif work == "layer-norm":
            kind, attributes = "LayerNormalization", {"axis": 1, "epsilon": row["epsilon"]}
        elif work == "transpose":
            kind, attributes = "Transpose", {"perm": [1, 0]}
        elif work == "conv":
            kind, p = "Conv", row["pad"]
            attributes = {"strides": [row["stride"]] * 2, "pads": [p] * 4, "group": row["groups"]}
        elif work.startswith("sum-"):
            kind = "ReduceSum"
            axes = {"sum-rows": [1], "sum-columns": [0], "sum-all": [0, 1]}[work]
            x = dict(x, axes=np.array(axes, np.int64))
            constants, inputs, attributes = ["axes"], ["a", "axes"], {"keepdims": int(work == "sum-all")}
        nodes.append(helper.make_node(kind, inputs, ["y"], **attributes))
        fed = [n for n in row["operands"] if n not in constants]
        declare = lambda name, dtype, shape: helper.make_tensor_value_info(  # noqa: E731
            name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        graph = helper.make_graph(
            nodes, "row", [declare(n, x[n].dtype, x[n].shape) for n in fed], [declare("y", out_type, None)],
            [self.onnx.numpy_helper.from_array(x[n], n) for n in constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        options = self.ort.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = len(os.sched_getaffinity(0))
        session = self.ort.InferenceSession(model.SerializeToString(), options,
                                            providers=["CPUExecutionProvider"])
        # Bound once, so that a run copies and allocates nothing.
        binding = session.io_binding()
        for n in fed:
            binding.bind_ortvalue_input(n, self.ort.OrtValue.ortvalue_from_numpy(x[n]))
        session.run_with_iobinding(self._to_cpu(binding))
        shape = binding.get_outputs()[0].shape()
        out = self.ort.OrtValue.ortvalue_from_shape_and_type(shape, out_type.type)
        binding.clear_binding_outputs()
        binding.bind_ortvalue_output("y", out)

        def run():
            session.run_with_iobinding(binding)
            return out
        run.to_numpy = lambda: out.numpy().reshape(-1) if work == "sum-all" else out.numpy()
        return run

    @staticmethod
    def _to_cpu(binding):
        binding.bind_output("y", "cpu")
        return binding


class Torch:
    name = "torch"

    def __init__(self):
        import torch
        self.torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.version = torch.__version__ + " on " + self.device
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        torch.set_grad_enabled(False)

    def finish(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def open(self, row, x):
        torch, work = self.torch, row["work"]
        x = {name: torch.from_numpy(array).to(self.device) for name, array in x.items()}
        a = x["a"]
        if work == "matmul":
            b = swapped(row, x["b"])
            if row["type"] == "i8":
                return (lambda: torch._int_mm(a, b)) if a.shape[0] > 16 else None
            return lambda: torch.matmul(a, b)
        if work == "conv":
            return lambda: torch.nn.functional.conv2d(a, x["weight"], None, row["stride"], row["pad"], 1,
                                                      row["groups"])
        if work == "layer-norm":
            return lambda: torch.nn.functional.layer_norm(a, a.shape[1:], x["scale"], x["shift"],
                                                          row["epsilon"])
        return {"softmax": lambda: torch.softmax(a, 1), "transpose": lambda: a.T.contiguous(),
                "sum-rows": lambda: a.sum(1), "sum-columns": lambda: a.sum(0),
                "sum-all": lambda: a.sum().reshape(1)}[work]


class Tinygrad:
    name = "tinygrad"

    def __init__(self):
        import importlib.metadata
        import tinygrad
        self.tinygrad = tinygrad
        self.version = "%s on %s" % (importlib.metadata.version("tinygrad"), tinygrad.Device.DEFAULT)

    def finish(self):
        self.tinygrad.Device[self.tinygrad.Device.DEFAULT].synchronize()

    def open(self, row, x):
        tensor, work = self.tinygrad.Tensor, row["work"]
        names = list(row["operands"])

        def compute(*operands):
            x = dict(zip(names, operands))
            a = x["a"]
            if work == "matmul":
                if row["type"] == "i8":
                    return a.cast("int32").matmul(swapped(row, x["b"]).cast("int32"))
                return a.matmul(swapped(row, x["b"]))
            if work == "conv":
                return a.conv2d(x["weight"], None, row["groups"], row["stride"], 1, row["pad"])
            if work == "layer-norm":
                return a.layernorm(1, row["epsilon"]) * x["scale"] + x["shift"]
            return {"softmax": lambda: a.softmax(1), "transpose": lambda: a.T.contiguous(),
                    "sum-rows": lambda: a.sum(1), "sum-columns": lambda: a.sum(0),
                    "sum-all": lambda: a.sum().reshape(1)}[work]()
        jitted = self.tinygrad.TinyJit(lambda *operands: compute(*operands).realize())
        operands = [tensor(x[name]).realize() for name in names]
        run = lambda: jitted(*operands)  # noqa: E731
        run(), run()  # captured in the second run
        return run


def to_numpy(run, result):
    if hasattr(run, "to_numpy"):
        return run.to_numpy()
    if hasattr(result, "cpu"):
        return result.cpu().numpy()
    return result if isinstance(result, np.ndarray) else result.numpy()


def installed():
    found = []
    for kind in (Numpy, OnnxRuntime, Torch, Tinygrad):
        try:
            found.append(kind())
        except ImportError:
            continue
    return found


def open_row(peers, row, folder):
    """(runs by name, files of results by name)"""
    runs, files = {}, {}
    for peer in peers:
        operands = {name: np.load(os.path.join(folder, name + ".npy")) for name in row["operands"]}
        try:
            run = peer.open(row, operands)
            if run is None:
                continue
            result = to_numpy(run, run())
        except Exception as error:  # a peer that cannot is no failure of the benchmark
            print("%s, %s: %s" % (peer.name, row["name"], str(error).split("\n")[0]), file=sys.stderr)
            continue
        runs[peer.name] = (run, getattr(peer, "finish", lambda: None))
        files[peer.name] = os.path.join(folder, peer.name + ".result.npy")
        np.save(files[peer.name], np.ascontiguousarray(result))
    return runs, files


def seconds_of(run, finish, times):
    finish()
    start = time.perf_counter()
    for _ in range(times):
        run()
    finish()
    return (time.perf_counter() - start) / times


def main():
    # Whatever a library prints goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    peers = installed()
    answer({"peers": [{"name": peer.name, "version": peer.version} for peer in peers]})
    runs = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "open" in request:
                runs.clear()
                runs, files = open_row(peers, request["open"], request["folder"])
                answer({"results": files})
            else:
                answer({"seconds": seconds_of(*runs[request["run"]], request["times"])})
        except Exception as error:
            answer({"error": "%s: %s" % (type(error).__name__, error)})


if __name__ == "__main__":
    main()
