"""Compares single operators with ONNX Runtime on random inputs: forms that ONNX's backend suite lacks.

    python3 tools/onnx/operator_cases.py [--tg-run=bazel-bin/tools/tg-run] [--device=reference]
                                         [--filter=TEXT]

Needs the Python packages onnx, onnxruntime and numpy. Each case is a model of one node; it fails if an
output differs by more than 1e-4 of the largest expected value. Prints the cases that fail and a count.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

CASES = {}
MICROSOFT = "com.microsoft"
RNG = np.random.default_rng(7)


def case(name, op, inputs, outputs=1, domain="", tolerance=1e-4, rows=None, known=(), **attributes):
    """Adds a case. Inputs that are None are left out, as are outputs that `outputs` (a list of bools)
    excludes; `known` inputs are initializers; `rows` masks, for each output, what of it is defined."""
    wanted = [True] * outputs if isinstance(outputs, int) else outputs
    assert name not in CASES, name
    CASES[name] = (op, inputs, wanted, domain, tolerance, rows, known, attributes)


def normal(*shape, scale=1.0):
    return (RNG.standard_normal(shape) * scale).astype(np.float32)


def i32(*values):
    return np.array(values, dtype=np.int32)


def recurrent_cases():
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}
    functions = {"LSTM": 3, "GRU": 2, "RNN": 1}
    optional = {"LSTM": 3, "GRU": 2, "RNN": 2}

    def inputs(op, directions, length=5, batch=3, size=4, hidden=6, bias=True, lengths=None,
               initial=True, peepholes=False):
        n = gates[op] * hidden
        values = [normal(length, batch, size), normal(directions, n, size, scale=0.5),
                  normal(directions, n, hidden, scale=0.5),
                  normal(directions, 2 * n) if bias else None, lengths,
                  normal(directions, batch, hidden) if initial else None]
        if op == "LSTM":
            values.append(normal(directions, batch, hidden) if initial else None)
            values.append(normal(directions, 3 * hidden) if peepholes else None)
        return values

    def add(name, op, directions=1, attributes=None, **given):
        case(f"{op.lower()}_{name}", op, inputs(op, directions, **given), optional[op], hidden_size=6,
             **(attributes or {}))

    for op in gates:
        both = {"direction": "bidirectional"}
        add("bidirectional", op, 2, both)
        add("reverse_lengths", op, 1, {"direction": "reverse"}, lengths=i32(5, 2, 3))
        add("bidirectional_lengths", op, 2, both, lengths=i32(1, 5, 4))
        add("no_bias", op, bias=False, initial=False)
        add("clip", op, attributes={"clip": 0.4})
        names = ["LeakyRelu", "ScaledTanh", "Affine", "HardSigmoid", "Elu", "ThresholdedRelu"]
        count = 2 * functions[op]
        add("activations", op, 2, {**both, "activations": names[:count],
                                   "activation_alpha": [0.1, 0.9, 0.5, 0.3, 0.8, 0.1][:count],
                                   "activation_beta": [0.7, 0.1, 0.4][:max(0, min(3, count - 1))]})
        add("default_parameters", op, 2,
            {**both, "activations": ["HardSigmoid", "LeakyRelu", "Sigmoid", "Elu", "Softsign",
                                     "Softplus"][:count]})
    add("linear_before_reset", "GRU", 2, {"direction": "bidirectional", "linear_before_reset": 1})
    add("linear_before_reset_no_bias", "GRU", 1, {"linear_before_reset": 1}, bias=False)
    add("peepholes", "LSTM", 2, {"direction": "bidirectional"}, peepholes=True, lengths=i32(5, 3, 1))
    add("peepholes_clip", "LSTM", 1, {"clip": 0.3}, peepholes=True)
    add("input_forget", "LSTM", 1, {"input_forget": 1}, peepholes=True)
    add("of_one_step", "LSTM", length=1, batch=1)

    def quantized(shape, kind, per_channel):
        values = RNG.integers(0, 255, shape).astype(np.uint8)
        zero = np.full((shape[0], shape[2]) if per_channel else (shape[0],), 128, np.uint8)
        if kind == np.int8:
            values = (values.astype(np.int32) - 128).astype(np.int8)
            zero = np.zeros_like(zero).astype(np.int8)
        scale = RNG.uniform(0.002, 0.006, zero.shape).astype(np.float32)
        return values, scale, zero

    for kind in (np.int8, np.uint8):
        for per_channel in (False, True):
            w, w_scale, w_zero = quantized((2, 4, 24), kind, per_channel)
            r, r_scale, r_zero = quantized((2, 6, 24), kind, per_channel)
            case(f"dynamic_quantize_lstm_{kind.__name__}_{'channel' if per_channel else 'tensor'}",
                 "DynamicQuantizeLSTM",
                 [normal(5, 3, 4), w, r, normal(2, 48), None, normal(2, 3, 6),
                  normal(2, 3, 6), normal(2, 18), w_scale, w_zero, r_scale, r_zero],
                 3, MICROSOFT, 1e-3, known=(1, 2, 8, 9, 10, 11), hidden_size=6,
                 direction="bidirectional")


def attention_cases():
    b, s, n, d = 2, 4, 3, 8
    h = n * d
    x, w, bias = normal(b, s, 10), normal(10, 3 * h, scale=0.3), normal(3 * h)
    past = normal(2, b, n, 5, d)

    def attention(name, inputs, outputs=1, **attributes):
        case("ms_attention_" + name, "Attention", inputs, outputs, MICROSOFT, num_heads=n, **attributes)

    attention("plain", [x, w, bias])
    attention("unidirectional", [x, w, bias], unidirectional=1)
    attention("raw_mask", [x, w, bias, i32([1, 1, 1, 0], [1, 1, 0, 0])])
    attention("raw_mask_filter", [x, w, bias, i32([1, 1, 1, 0], [1, 1, 0, 0])], mask_filter_value=-2.0)
    attention("raw_mask_3d", [x, w, bias, RNG.integers(0, 2, (b, s, s)).astype(np.int32)])
    attention("right_padding", [x, w, bias, i32(3, 2)])
    attention("left_padding", [x, w, bias, i32(4, 4, 1, 2)])
    attention("past", [x, w, bias, None, past], 2)
    attention("past_unidirectional_mask",
              [x, w, bias, RNG.integers(0, 2, (b, 9)).astype(np.int32), past], 2, unidirectional=1)
    attention("bias", [x, w, bias, None, None, normal(1, n, s, s)])
    attention("scale", [x, w, bias], scale=0.1)
    attention("other_value_size", [x, normal(10, 2 * h + 6, scale=0.3), normal(2 * h + 6)],
              qkv_hidden_sizes=[h, h, 6])

    def multi_head(name, inputs, outputs=1, **attributes):
        case("multi_head_" + name, "MultiHeadAttention", inputs, outputs, MICROSOFT, num_heads=n,
             **attributes)

    q, k, v = normal(b, s, h), normal(b, 6, h), normal(b, 6, h)
    multi_head("cross", [q, k, v])
    multi_head("bias", [q, k, v, normal(3 * h)])
    multi_head("value_size", [q, k, normal(b, 6, 15)])
    multi_head("key_mask", [q, k, v, None, i32([1, 1, 0, 1, 1, 0], [1, 1, 1, 1, 1, 1])])
    multi_head("lengths", [q, k, v, None, i32(4, 6)])
    multi_head("mask_3d", [q, k, v, None, RNG.integers(0, 2, (b, s, 6)).astype(np.int32)])
    multi_head("attention_bias", [q, k, v, None, None, normal(b, 1, s, 6)], [1, 0, 0, 1])
    multi_head("unidirectional", [q, normal(b, s, h), normal(b, s, h)], [1, 0, 0, 1], unidirectional=1)
    multi_head("past", [q, normal(b, s, h), normal(b, s, h), None, None, None, normal(b, n, 5, d),
                        normal(b, n, 5, d)], 4)
    multi_head("past_unidirectional",
               [q, normal(b, s, h), normal(b, s, h), None, None, None, normal(b, n, 5, d),
                normal(b, n, 5, d)], 3, unidirectional=1)
    multi_head("heads_first", [q, normal(b, n, 6, d), normal(b, n, 6, d)])

    angles = [np.cos(normal(12, d // 2)), np.sin(normal(12, d // 2))]

    def rotary(name, x, positions, caches=None, **attributes):
        case("ms_rotary_" + name, "RotaryEmbedding", [x, positions] + (caches or angles), 1, MICROSOFT,
             **attributes)

    positions = RNG.integers(0, 12, (b, s)).astype(np.int64)
    rotary("packed", q, positions)
    rotary("offset", q, np.array([3], np.int64))
    rotary("interleaved", q, positions, interleaved=1)
    rotary("heads_first", normal(b, n, s, d), positions)
    rotary("partial", q, positions, [a[:, :2] for a in angles], num_heads=n, rotary_embedding_dim=4)

    def grouped(name, inputs, outputs=3, rows=None, **attributes):
        case("grouped_" + name, "GroupQueryAttention", inputs, outputs, MICROSOFT, rows=rows, known=(6,),
             num_heads=4, kv_num_heads=2, **attributes)

    def sequence(batch, length):
        return [normal(batch, length, 4 * d), normal(batch, length, 2 * d), normal(batch, length, 2 * d)]

    def cache(batch, length):
        return [normal(batch, 2, length, d), normal(batch, 2, length, d)]

    d = 16
    angles = [np.cos(normal(12, d // 2)), np.sin(normal(12, d // 2))]
    one = np.array(1, np.int32)
    grouped("prompt", sequence(b, s) + [None, None, i32(3, 3), s * one])
    grouped("prompt_rotary", sequence(b, s) + [None, None, i32(3, 3), s * one] + angles, do_rotary=1)
    grouped("prompt_packed", [normal(b, s, 8 * d), None, None, None, None, i32(3, 3), s * one] + angles,
            do_rotary=1, rotary_interleaved=1)
    grouped("decode", sequence(1, 1) + cache(1, 5) + [i32(5), 6 * one])
    grouped("decode_rotary", sequence(b, 1) + cache(b, 5) + [i32(5, 5), 6 * one] + angles, do_rotary=1)
    grouped("continued", sequence(1, s) + cache(1, 5) + [i32(8), 9 * one] + angles, do_rotary=1)
    grouped("window", sequence(1, s) + cache(1, 5) + [i32(8), 9 * one], local_window_size=3)
    grouped("softcap", sequence(b, s) + [None, None, i32(3, 3), s * one], softcap=2.0)
    grouped("scale", sequence(b, s) + [None, None, i32(3, 3), s * one], scale=0.2)
    grouped("smooth_softmax", sequence(b, s) + [None, None, i32(3, 3), s * one], smooth_softmax=1)
    grouped("head_sink", sequence(b, s) + [None, None, i32(3, 3), s * one, None, None, None, None,
                                           normal(4)])
    grouped("attention_bias", sequence(b, s) + [None, None, i32(3, 3), s * one, None, None, None,
                                                normal(1, 4, s, s)])
    grouped("positions", sequence(1, s) + cache(1, 5) + [i32(8), 9 * one] + angles +
            [np.arange(5, 9, dtype=np.int64)[None]], do_rotary=1)
    grouped("output_scores", sequence(b, s) + [None, None, i32(3, 3), s * one], 4, qk_output=2)
    grouped("batch_of_lengths", sequence(b, 1) + cache(b, 5) + [i32(5, 3), 6 * one] + angles,
            rows=[True] + 2 * [np.arange(6)[None, None, :, None] < i32(6, 4)[:, None, None, None]],
            do_rotary=1)
    grouped("buffer", sequence(b, 1) + cache(b, 9) + [i32(5, 3), 6 * one] + angles,
            rows=[True] + 2 * [np.arange(9)[None, None, :, None] < i32(6, 4)[:, None, None, None]],
            do_rotary=1)
    padded = np.arange(s)[None, :, None] < i32(4, 2)[:, None, None]
    grouped("padded_prompt", sequence(b, s) + [None, None, i32(3, 1), s * one] + angles, rows=
            [padded] + 2 * [padded[:, None]], do_rotary=1)

def embedding_cases():
    b, s, h = 2, 5, 12
    words = RNG.integers(0, 20, (b, s)).astype(np.int32)
    segments = RNG.integers(0, 2, (b, s)).astype(np.int32)
    tables = [normal(20, h), normal(9, h)]
    ends = [normal(h), normal(h)]
    mask = i32([1, 1, 1, 0, 0], [1, 1, 1, 1, 1])

    def embed(name, inputs, outputs):
        case("embed_" + name, "EmbedLayerNormalization", inputs, outputs, MICROSOFT, epsilon=1e-6)

    embed("plain", [words, None, *tables, None, *ends], 2)
    embed("segments_mask", [words, segments, *tables, normal(2, h), *ends, mask], 3)
    embed("positions", [words, segments, *tables, normal(2, h), *ends, mask,
                        RNG.integers(0, 9, (b, s)).astype(np.int32)], 3)
    embed("one_row_of_positions", [words, None, *tables, None, *ends, None,
                                   RNG.integers(0, 9, (1, s)).astype(np.int32)], 3)


def build(name):
    op, inputs, wanted, domain, _, _, known, attributes = CASES[name]
    names = ["" if v is None else f"x{i}" for i, v in enumerate(inputs)]
    while names and not names[-1]:
        names.pop()
    outputs = [f"y{i}" if w else "" for i, w in enumerate(wanted)]
    node = helper.make_node(op, names, outputs, domain=domain, **attributes)
    values, initializers = [], []
    for i, (label, value) in enumerate(zip(names, inputs)):
        if not label:
            continue
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        if i in known:
            initializers.append(onnx.numpy_helper.from_array(value, label))
        else:
            values.append(helper.make_tensor_value_info(label, kind, value.shape))
    results = []
    for i, label in enumerate(outputs):
        kind = TensorProto.INT32 if op.startswith("Embed") and i == 1 else TensorProto.FLOAT
        if op.endswith("Classifier") and i == 0:
            kind = TensorProto.INT64
        if label:
            results.append(helper.make_tensor_value_info(label, kind, None))
    graph = helper.make_graph([node], name, values, results, initializers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1),
              helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def run(name, args, folder):
    _, inputs, wanted, _, tolerance, rows, known, _ = CASES[name]
    model = build(name)
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    given = {f"x{i}": v for i, v in enumerate(inputs) if v is not None and i not in known}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1  # rows of one thread are quantized together
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    labels = [f"y{i}" for i, w in enumerate(wanted) if w]
    expected = session.run(labels, given)
    command = [args.tg_run, str(path)] + ([f"--device={args.device}"] if args.device else [])
    for label, value in given.items():
        np.save(folder / f"{label}.npy", value)
        command.append(f"--input={label}={folder / label}.npy")
    command += [f"--output={label}={folder / label}.npy" for label in labels]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        return (done.stderr or done.stdout).strip()
    for label, reference in zip(labels, expected):
        actual = np.load(folder / f"{label}.npy")
        if actual.shape != reference.shape:
            return f"{label} has shape {actual.shape}, not {reference.shape}"
        difference = np.abs(actual.astype(np.float64) - reference.astype(np.float64))
        if rows is not None:
            difference = np.where(rows[int(label[1:])], difference, 0)
        if not difference.max(initial=0) <= tolerance * np.abs(reference).max(initial=1e-30):
            at = np.unravel_index(np.argmax(difference), difference.shape)
            return f"{label}{[int(i) for i in at]} is {actual[at]}, not {reference[at]}"
    return ""


def classifier_cases():
    ml = "ai.onnx.ml"
    for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
        case(f"linear_classifier_{transform}", "LinearClassifier", [normal(6, 3)], 2, ml,
             coefficients=normal(12).tolist(), intercepts=normal(4).tolist(),
             classlabels_ints=[3, 1, 4, 9], post_transform=transform)
        case(f"linear_classifier_of_one_score_{transform}", "LinearClassifier", [normal(6, 3)], 2, ml,
             coefficients=normal(3).tolist(), intercepts=[0.1], classlabels_ints=[5, 7],
             post_transform=transform)
        for name, labels, ids, weights in (
                ("", [2, 4, 6], [0, 2, 1, 0], [0.5, -0.25, 1.0, 2.0]),
                ("_of_one_score", [5, 7], [0, 0, 0, 0], [-0.5, 0.25, 1.0, -2.0]),
                ("_of_one_probability", [5, 7], [0, 0, 0, 0], [0.1, 0.6, 0.3, 0.2])):
            leaf, branch = "LEAF", "BRANCH_LEQ"
            case(f"tree_ensemble_classifier{name}_{transform}", "TreeEnsembleClassifier", [normal(9, 2)],
                 2, ml, nodes_treeids=[0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 0, 1, 2],
                 nodes_featureids=[0, 0, 0, 1, 0, 0], nodes_values=[0.1, 0, 0, -0.2, 0, 0],
                 nodes_modes=[branch, leaf, leaf] * 2, nodes_truenodeids=[1, 0, 0] * 2,
                 nodes_falsenodeids=[2, 0, 0] * 2, class_treeids=[0, 0, 1, 1],
                 class_nodeids=[1, 2, 1, 2], class_ids=ids, class_weights=weights,
                 classlabels_int64s=labels, post_transform=transform)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tg-run", default="bazel-bin/tools/tg-run")
    parser.add_argument("--device", default="")
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    recurrent_cases()
    attention_cases()
    embedding_cases()
    classifier_cases()
    failed = 0
    names = [n for n in CASES if args.filter in n]
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            try:
                why = run(name, args, pathlib.Path(temporary))
            except Exception as error:  # pylint: disable=broad-except
                why = f"ONNX Runtime: {error}"
            if why:
                failed += 1
                print(f"{name}: {why}", flush=True)
    print(f"{len(names)} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
