"""Runs ONNX networks through tg-run and through ONNX Runtime on the same inputs.

    python3 tools/onnx/versus_onnxruntime.py MODEL.onnx... [--size NAME=N] [--tg-run=PATH] [--json=FILE]

Needs the Python packages onnx, onnxruntime and numpy. Inputs are random unless --input NAME=FILE.npy
gives them. Prints, for each network: the largest difference relative to the largest value, kernels,
seconds of the first run with empty caches and of a later one, and the median time of a run of each.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
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


def run_tg(args, path, inputs, output_names, folder, cache, repeat):
    command = [args.tg_run, str(path), "--verbose=2", f"--repeat={repeat}"]
    for i, (name, value) in enumerate(inputs.items()):
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
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    expected = session.run(names, inputs)
    times = []
    for _ in range(args.repeat):
        start = time.perf_counter()
        session.run(names, inputs)
        times.append(time.perf_counter() - start)
    row = {"network": pathlib.Path(path).name, "onnxruntime_ms": 1e3 * statistics.median(times)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        cache = folder / "cache"
        cache.mkdir()
        try:
            _, row["first_s"] = run_tg(args, path, inputs, names, folder, cache, 1)
            text, _ = run_tg(args, path, inputs, names, folder, cache, args.repeat)
            _, row["later_s"] = run_tg(args, path, inputs, names, folder, cache, 1)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            row["error"] = str(error)
            return row
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
        found = re.search(r"(\d+) kernels?, .*?, ([0-9.]+) (us|ms|s) on the device", text)
        if found:
            row["kernels"] = int(found[1])
            row["tg_ms"] = float(found[2]) * {"us": 1e-3, "ms": 1, "s": 1e3}[found[3]]
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
        print(f"{row['network']}: difference {row['difference']:.2e}, {row.get('kernels')} kernels, first run "
              f"{row['first_s']:.1f} s, later {row['later_s']:.2f} s, tg {row.get('tg_ms', 0):.2f} ms, "
              f"ONNX Runtime {row['onnxruntime_ms']:.2f} ms", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
