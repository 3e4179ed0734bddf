"""Runs ONNX networks through tg-run and through ONNX Runtime on the same inputs.

    python3 tools/onnx/versus_onnxruntime.py MODEL.onnx... [--size NAME=N] [--tg-run=PATH] [--json=FILE]

Needs the Python packages onnx, onnxruntime and numpy. Inputs are random unless --input NAME=FILE.npy
gives them. Prints, for each network: the largest difference relative to the largest value, kernels,
seconds of the first run with empty caches and of a later one, and the least time of a run of each.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime


def random_inputs(model, sizes, given, seed):
    rng = np.random.default_rng(seed)
    initialized = {t.name for t in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name in initialized:
            continue
        if value.name in given:
            inputs[value.name] = np.load(given[value.name])
            continue
        tensor = value.type.tensor_type
        shape = []
        for i, dim in enumerate(tensor.shape.dim):
            name = dim.dim_param if dim.dim_param not in ("", "?") else f"{value.name}.{i}"
            shape.append(dim.dim_value if dim.dim_value > 0 else sizes.get(name, 1))
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if np.issubdtype(kind, np.integer):
            limit = sizes.get(value.name + ".max", 2)
            inputs[value.name] = rng.integers(0, limit, shape).astype(kind)
        elif kind == np.bool_:
            inputs[value.name] = rng.integers(0, 2, shape).astype(kind)
        else:
            inputs[value.name] = rng.standard_normal(shape).astype(kind)
    return inputs


def run_tg(args, path, inputs, output_names, folder, cache, *options):
    command = [args.tg_run, str(path), *options]
    for i, (name, value) in enumerate(inputs.items()):
        if isinstance(value, str):  # a picture or a sound, which tg-run reads
            command += [f"--input={name}={value}", f"--output={name}={folder / f'in{i}.npy'}"]
        else:
            np.save(folder / f"in{i}.npy", value)
            command.append(f"--input={name}={folder / f'in{i}.npy'}")
    for i, name in enumerate(output_names):
        command.append(f"--output={name}={folder / f'out{i}.npy'}")
    if args.device:
        command.append(f"--device={args.device}")
    environment = dict(os.environ, POCL_CACHE_DIR=str(cache), TG_CACHE_DIR=str(cache))
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment,
                          timeout=args.timeout, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[:500])
    return done.stdout, seconds


def compare(args, path):
    model = onnx.load(path, load_external_data=False)
    sizes = {k: int(v) for k, v in (s.rsplit("=", 1) for s in args.size)}
    given = dict(s.split("=", 1) for s in args.input)
    inputs = random_inputs(model, sizes, given, args.seed)
    with tempfile.TemporaryDirectory() as folder:
        return measure(args, path, inputs, pathlib.Path(folder))


def run_onnxruntime(args, path, inputs, names):
    """The outputs, and the least time of a run in milliseconds."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    outputs = session.run(names, inputs)
    least = float("inf")
    for _ in range(args.repeat):
        start = time.perf_counter()
        session.run(names, inputs)
        least = min(least, time.perf_counter() - start)
    return outputs, 1e3 * least


def measure(args, path, inputs, folder):
    """Runs both. `inputs` has arrays, or names of files with options as --input takes them.

    The inputs and tg's outputs are left in `folder`: in0.npy, out0.npy and so on.
    """
    row = {"network": pathlib.Path(path).name}
    names = [o.name for o in onnx.load(path, load_external_data=False).graph.output]
    cache = folder / "cache"
    cache.mkdir()
    try:
        run = lambda *options: run_tg(args, path, inputs, names, folder, cache, *options)  # noqa: E731
        _, row["first_s"] = run()
        _, row["later_s"] = run()
        kernels, _ = run("--verbose=1")
        times, _ = run(f"--repeat={max(2, args.repeat)}")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        row["error"] = str(error)
        return row
    arrays = {name: np.load(folder / f"in{i}.npy") for i, name in enumerate(inputs)}
    expected, row["onnxruntime_ms"] = run_onnxruntime(args, path, arrays, names)
    worst = 0.0
    for i, reference in enumerate(expected):
        actual = np.load(folder / f"out{i}.npy")
        if actual.shape != reference.shape:
            row["error"] = f"{names[i]} has shape {actual.shape}, not {reference.shape}"
            return row
        a, b = actual.astype(np.float64), np.asarray(reference).astype(np.float64)
        scale = np.abs(b[np.isfinite(b)]).max(initial=1e-30)
        worst = max(worst, float(np.abs(a - b).max(initial=0) / scale))
    row["difference"] = worst
    row["kernels"] = int(re.search(r"(\d+) kernels?, ", kernels)[1])
    least = re.search(r"runs: least ([0-9.]+) (ns|us|ms|s),", times)
    row["tg_ms"] = float(least[1]) * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[least[2]]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--tg-run", default="bazel-bin/tools/tg-run")
    parser.add_argument("--device", default="")
    parser.add_argument("--size", action="append", default=[])
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--json", default="")
    args = parser.parse_args()
    rows = []
    for path in args.models:
        row = compare(args, path)
        rows.append(row)
        if "error" in row:
            print(f"{row['network']}: {row['error']}", flush=True)
            continue
        print(f"{row['network']}: difference {row['difference']:.2e}, {row['kernels']} kernels, first run "
              f"{row['first_s']:.1f} s, later {row['later_s']:.2f} s, tg {row['tg_ms']:.2f} ms, "
              f"ONNX Runtime {row['onnxruntime_ms']:.2f} ms", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
