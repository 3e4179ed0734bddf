"""Measures how long compiled models take from a start to the first result, and other ways to start.

    bazel build --config=opt --config=units //tools:tg-run //tools:tg-llm //tools:tg-compile \\
        //runtime/artifact:run_artifact
    python3 tools/onnx/start_times.py bazel-bin MODELS.txt [--rounds=5] [--json=FILE --machine="..."]

A line of MODELS.txt is `NAME MODEL.onnx DIMENSION=NUMBER ...`, or `NAME MODEL.gguf`. Each model is compiled
for the native device. Then, by turns, each in a new process: a program with the runtime library alone;
`tg-run MODEL.tgx`; `tg-run MODEL.onnx` with full caches; ONNX Runtime's session and first run, without Python's
imports. A text model's first result is the logits behind a prompt of three tokens, in tg-llm, and its peer is
llama.cpp. Printed are the least times. Needs the Python packages onnxruntime, numpy, and xllamacpp for text.
"""

import argparse
import json
import mmap
import os
import re
import subprocess
import sys
import tempfile
import time

PEER = """
import sys, time
import numpy, onnxruntime
onnxruntime.set_default_logger_severity(4)
options = onnxruntime.SessionOptions()
sizes = dict(a.rsplit("=", 1) for a in sys.argv[2:])
start = time.perf_counter()
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
types = {"tensor(float)": "f4", "tensor(int64)": "i8", "tensor(int32)": "i4", "tensor(float16)": "f2"}
inputs = {}
for i in session.get_inputs():
    shape = [d if isinstance(d, int) else int(sizes.get(d) or sizes[i.name + "." + str(axis)])
             for axis, d in enumerate(i.shape)]
    inputs[i.name] = numpy.zeros(shape, types[i.type])
session.run(None, inputs)
print((time.perf_counter() - start) * 1e3)
"""

TEXT_PEER = """
import sys, time
sys.path.insert(0, sys.argv[2])
from llama import Llama
start = time.perf_counter()
Llama(sys.argv[1]).append([504, 6376, 314])
print((time.perf_counter() - start) * 1e3)
"""


def run(*command):
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    wall = (time.perf_counter() - start) * 1e3
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), done.stderr[-500:]))
    return wall, done.stdout


def touch(path):
    """Milliseconds to map a file and read a byte of each page."""
    start = time.perf_counter()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        mapped[::mmap.PAGESIZE]
    return (time.perf_counter() - start) * 1e3


def text_times(program, model):
    """Milliseconds of the process, of its load, and from the prompt to the logits."""
    start = time.perf_counter()
    done = subprocess.run([program, model, "-p", "The sky is", "--raw", "-n", "1"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, check=True)
    wall = (time.perf_counter() - start) * 1e3
    found = re.search(r"load ([0-9.]+) (m?s), first token ([0-9.]+) (m?s)", done.stderr)
    scale = {"ms": 1, "s": 1e3}
    return wall, float(found.group(1)) * scale[found.group(2)], float(found.group(3)) * scale[found.group(4)]


def measure_text(binaries, model, rounds, folder):
    tgx = os.path.join(folder, "model.tgx")
    run(os.path.join(binaries, "tools/tg-compile"), "--device=native", model, "-o", tgx)
    tool = os.path.join(binaries, "tools/tg-llm")
    folder_of_peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../llm")
    least = {}
    for _ in range(rounds):
        times = {"mapping": touch(tgx)}
        times["tg-run .tgx"], times["open"], first = text_times(tool, tgx)
        times["first"] = times["open"] + first
        # Of the model itself, runs before the prompt have done what a first run does once.
        times["tg-run .onnx"], _, times["run"] = text_times(tool, model)
        times["peer"] = float(run(sys.executable, "-c", TEXT_PEER, model, folder_of_peer)[1])
        for name, value in times.items():
            least[name] = min(value, least.get(name, value))
    least["size"] = os.path.getsize(tgx) / os.path.getsize(model)
    return least


def measure(binaries, model, sizes, rounds, folder):
    if model.endswith(".gguf"):
        return measure_text(binaries, model, rounds, folder)
    tool = lambda name: os.path.join(binaries, "tools", name)
    flags = ["--var=" + s for s in sizes]
    tgx = os.path.join(folder, "model.tgx")
    run(tool("tg-compile"), "--device=native", *flags, model, "-o", tgx)
    least = {}
    for _ in range(rounds):
        _, text = run(os.path.join(binaries, "runtime/artifact/run_artifact"), tgx, "20")
        opened, first, each = (float(re.search(word + r" ([0-9.]+) ms", text).group(1))
                               for word in ("opened in", "first result after", "median"))
        times = {"open": opened, "first": first, "run": each, "mapping": touch(tgx)}
        times["tg-run .tgx"], _ = run(tool("tg-run"), tgx, "--random-inputs=1")
        times["tg-run .onnx"], _ = run(tool("tg-run"), "--device=native", *flags, model, "--random-inputs=1")
        times["peer"] = float(run(sys.executable, "-c", PEER, model, *sizes)[1])
        for name, value in times.items():
            least[name] = min(value, least.get(name, value))
    least["size"] = os.path.getsize(tgx) / os.path.getsize(model)
    return least


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries")
    parser.add_argument("models")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--machine", default="")
    options = parser.parse_args()
    rows = []
    for line in open(options.models):
        if not line.strip():
            continue
        name, model, *sizes = line.split()
        with tempfile.TemporaryDirectory() as folder:
            t = measure(options.binaries, model, sizes, options.rounds, folder)
        print("%-24s open %6.1f  first %6.1f  a run %6.2f  mapping %5.1f  tg-run .tgx %6.1f  tg-run .onnx %6.1f  "
              "onnxruntime %7.1f  size %.3f" %
              (name, t["open"], t["first"], t["run"], t["mapping"], t["tg-run .tgx"], t["tg-run .onnx"],
               t["peer"], t["size"]), flush=True)
        rows.append({"work": "%s: a run %.3g ms, mapping %.2g ms; the process of tg-run %.3g ms, of the model "
                             "%.3g ms; size %.2f" % (name, t["run"], t["mapping"], t["tg-run .tgx"],
                                                     t["tg-run .onnx"], t["size"]),
                     "tg": round(t["first"], 2), "peer": round(t["peer"], 1)})
    if options.json:
        table = {"order": 17, "title": "From a start to the first result",
                 "note": "[start_times.py](../tools/onnx/start_times.py): a program with the runtime library alone "
                         "opens a .tgx file of the native device and runs it once, on zeros; least of %d turns. "
                         "Then a later run; mapping the file and touching its pages; whole processes of tg-run "
                         "with the .tgx file, and with the model and full caches; the file's size by the model's. "
                         "A text model: tg-llm to the logits behind three tokens, and llama.cpp."
                         % options.rounds,
                 "unit": "ms", "peer": "ONNX Runtime's session and first run; of text, llama.cpp's",
                 "measured": time.strftime("%Y-%m-%d"), "machine": options.machine, "rows": rows}
        with open(options.json, "w") as file:
            json.dump(table, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
