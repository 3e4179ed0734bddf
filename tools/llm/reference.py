#!/usr/bin/env python3
"""The logits of a text model in float64, written from the published architectures.

    pip install gguf numpy
    tools/llm/reference.py model.gguf --tokens=1,2,3 --output=logits.npy

The file's weights are decoded by the `gguf` package. Row i of the output has the logits of what
follows token i. Nothing is cached, so that a text of n tokens is one pass over n positions.
"""

import argparse
import math

import gguf
import numpy as np


class Model:
    """A model's weights and sizes."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.meta = {key: field.contents() for key, field in reader.fields.items()}
        self.tensors = {t.name: t for t in reader.tensors}
        self.cache = {}
        self.name = self.meta["general.architecture"]
        self.width = self.key("embedding_length")
        self.layers = self.key("block_count")
        self.heads = self.key("attention.head_count")
        self.kv_heads = self.key("attention.head_count_kv", self.heads)
        self.head = self.key("attention.key_length", self.width // self.heads)
        self.epsilon = self.key("attention.layer_norm_rms_epsilon")

    def key(self, name, otherwise=None):
        """The value of a key of the architecture."""
        value = self.meta.get(f"{self.name}.{name}", otherwise)
        assert value is not None, name
        return value

    def __contains__(self, name):
        return name in self.tensors

    def __getitem__(self, name):
        if name not in self.cache:
            tensor = self.tensors[name]
            data = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            self.cache[name] = data.reshape(tensor.shape[::-1]).astype(np.float64)
        return self.cache[name]


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def linear(model, x, name):
    y = x @ model[name + ".weight"].T
    return y + model[name + ".bias"] if name + ".bias" in model else y


def frequencies(model, is_local, is_long):
    """Radians a position of each pair, and by how much the vectors grow."""
    n = model.key("rope.dimension_count", model.head)
    base = model.key("rope.freq_base", 10000.0)
    if is_local and model.name == "gemma3":
        return 10000.0 ** (-np.arange(0, n, 2) / n), 1.0
    radians = base ** (-np.arange(0, n, 2) / n)
    original = model.key("rope.scaling.original_context_length", model.key("context_length"))
    factors = "rope_factors_long" if is_long else "rope_factors_short"
    for name in ("rope_freqs.weight", factors + ".weight"):
        if name in model:
            radians = radians / model[name]
    grow = model.key("rope.scaling.attn_factor", 1.0)
    kind = model.key("rope.scaling.type", "none")
    scale = model.key("rope.scaling.factor", 1.0)
    if kind == "linear":
        radians = radians / scale
    elif kind == "yarn":
        # Pairs that turn more than 32 times within the original context keep their frequency, pairs
        # that turn less than once are slowed down, and the others are in between.
        def pair(turns):
            return n * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))
        low, high = max(math.floor(pair(32)), 0), min(math.ceil(pair(1)), n - 1)
        mix = np.clip((np.arange(n // 2) - low) / max(high - low, 0.001), 0, 1)
        radians = radians * (1 - mix) + radians / scale * mix
        grow *= 0.1 * math.log(scale) + 1
    return radians, grow


def rotate(model, x, is_local, is_long):
    """x: [tokens, heads, size]."""
    radians, grow = frequencies(model, is_local, is_long)
    angles = np.arange(len(x))[:, None, None] * radians
    cos, sin = np.cos(angles) * grow, np.sin(angles) * grow
    half = len(radians)
    y = x.copy()
    if model.name == "llama":
        a, b = x[..., 0:2 * half:2], x[..., 1:2 * half:2]
        y[..., 0:2 * half:2], y[..., 1:2 * half:2] = a * cos - b * sin, b * cos + a * sin
    else:
        a, b = x[..., :half], x[..., half:2 * half]
        y[..., :half], y[..., half:2 * half] = a * cos - b * sin, b * cos + a * sin
    return y


def attention(model, x, layer, is_long):
    p = f"blk.{layer}."
    heads, kv, size, count = model.heads, model.kv_heads, model.head, len(x)
    if p + "attn_qkv.weight" in model:
        q, k, v = np.split(linear(model, x, p + "attn_qkv"),
                           [heads * size, (heads + kv) * size], axis=-1)
    else:
        q, k, v = (linear(model, x, p + "attn_" + part) for part in "qkv")
    q, k, v = (t.reshape(count, -1, size) for t in (q, k, v))
    if p + "attn_q_norm.weight" in model:
        q = rms_norm(q, model[p + "attn_q_norm.weight"], model.epsilon)
        k = rms_norm(k, model[p + "attn_k_norm.weight"], model.epsilon)
    window = model.key("attention.sliding_window", 0)
    period = {"gemma2": 2, "gemma3": 6}.get(model.name)
    is_local = bool(window) and (period is None or layer % period != period - 1)
    q, k = rotate(model, q, is_local, is_long), rotate(model, k, is_local, is_long)
    wide = {"gemma2": 46, "gemma3": 62}.get(model.name) == model.layers
    scale = (model.width / heads if wide else size) ** -0.5
    positions = np.arange(count)
    seen = positions[None, :] <= positions[:, None]
    if is_local:
        seen &= positions[:, None] - positions[None, :] < window
    cap = model.key("attn_logit_softcapping", 0.0)
    out = np.empty((count, heads, size))
    for h in range(heads):
        scores = q[:, h] @ k[:, h // (heads // kv)].T * scale
        if cap:
            scores = cap * np.tanh(scores / cap)
        out[:, h] = softmax(np.where(seen, scores, -np.inf)) @ v[:, h // (heads // kv)]
    return linear(model, out.reshape(count, -1), p + "attn_output")


def activate(model, gate, up):
    if model.name.startswith("gemma"):
        return 0.5 * gate * (1 + np.tanh(math.sqrt(2 / math.pi) * (gate + 0.044715 * gate ** 3))) * up
    return gate / (1 + np.exp(-gate)) * up


def feed_forward(model, x, p):
    if p + "ffn_gate_inp.weight" in model:
        share = softmax(linear(model, x, p + "ffn_gate_inp"))
        out = np.zeros_like(x)
        for t, row in enumerate(x):
            best = np.argsort(-share[t], kind="stable")[:model.key("expert_used_count")]
            for e in best:
                gate = row @ model[p + "ffn_gate_exps.weight"][e].T
                up = row @ model[p + "ffn_up_exps.weight"][e].T
                y = activate(model, gate, up) @ model[p + "ffn_down_exps.weight"][e].T
                out[t] += y * share[t][e] / share[t][best].sum()
        return out
    if p + "ffn_gate.weight" in model:
        gate, up = linear(model, x, p + "ffn_gate"), linear(model, x, p + "ffn_up")
    else:
        gate, up = np.split(linear(model, x, p + "ffn_up"), 2, axis=-1)
    return linear(model, activate(model, gate, up), p + "ffn_down")


def logits(model, tokens):
    """[tokens, vocabulary]: row i depends on the first i + 1 tokens alone.

    Files with long and short factors have the long ones for texts of more tokens than the original
    context; all tokens of such a text are rotated by them.
    """
    short = min(len(tokens), model.key("rope.scaling.original_context_length", model.key("context_length")))
    rows = one_pass(model, tokens[:short], False)
    if short == len(tokens):
        return rows
    return np.concatenate((rows, one_pass(model, tokens, True)[short:]))


def one_pass(model, tokens, is_long):
    """The logits behind each token of a text, where the text is long, or not."""
    y = linear(model, states(model, tokens, is_long), "output" if "output.weight" in model else "token_embd")
    cap = model.key("final_logit_softcapping", 0.0)
    return cap * np.tanh(y / cap) if cap else y


def states(model, tokens, is_long):
    """What the logits behind each token are computed from: [tokens, width]."""
    x = model["token_embd.weight"][tokens]
    if model.name.startswith("gemma"):
        x = x * math.sqrt(model.width)
    for layer in range(model.layers):
        p = f"blk.{layer}."
        y = attention(model, rms_norm(x, model[p + "attn_norm.weight"], model.epsilon), layer, is_long)
        if p + "post_attention_norm.weight" in model:
            y = rms_norm(y, model[p + "post_attention_norm.weight"], model.epsilon)
        x = x + y
        y = feed_forward(model, rms_norm(x, model[p + "ffn_norm.weight"], model.epsilon), p)
        if p + "post_ffw_norm.weight" in model:
            y = rms_norm(y, model[p + "post_ffw_norm.weight"], model.epsilon)
        x = x + y
    return rms_norm(x, model["output_norm.weight"], model.epsilon)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--tokens", required=True, help="numbers, separated by commas")
    parser.add_argument("--output", required=True, help="an npy file")
    args = parser.parse_args()
    tokens = [int(t) for t in args.tokens.split(",")]
    np.save(args.output, logits(Model(args.model), tokens).astype(np.float32))


if __name__ == "__main__":
    main()
