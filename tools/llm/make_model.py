#!/usr/bin/env python3
"""Writes a small text model of random weights, for tests.

    tools/llm/make_model.py --architecture=qwen2 --type=Q4_0 model.gguf

Only the standard library is needed. --layers, --width and so on make models of real sizes for
measurements; weights of large models repeat a random block.
"""

import argparse
import random
import struct

from gguf_file import GgufFile, TYPES, random_blocks

ARCHITECTURES = ("llama", "llama-moe", "qwen2", "qwen3", "qwen3moe", "gemma2", "gemma3", "phi3")
CHAT = ("{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\n' }}"
        "{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}")
# The least tokens of a byte-pair vocabulary: one a byte.
BYTE_TOKENS = 256


def byte_spellings():
    """How GPT-2 spells bytes: visible characters are themselves, others follow U+0100."""
    visible = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    spelling = {b: chr(b) for b in visible}
    others = [b for b in range(256) if b not in spelling]
    spelling.update({b: chr(256 + i) for i, b in enumerate(others)})
    return [spelling[b] for b in range(256)]


class Maker:
    """One model."""

    def __init__(self, args):
        self.args = args
        self.rng = random.Random(args.seed)
        self.file = GgufFile()
        self.name = args.architecture.split("-")[0]
        self.is_moe = "moe" in args.architecture

    def floats(self, name, shape, mean=0.0, spread=0.1):
        """A tensor in F32."""
        count = 1
        for n in shape:
            count *= n
        numbers = [self.rng.gauss(mean, spread) for _ in range(count)]
        self.file.add_tensor(name, "F32", shape, struct.pack(f"<{count}f", *numbers))

    def matrix(self, name, shape, kind=None):
        """A weight of random blocks, whose values are about 1 / sqrt(columns) in size."""
        kind = kind or self.args.type
        _, elements, size = TYPES[kind]
        if shape[-1] % elements:
            kind, elements, size = "F16", *TYPES["F16"][1:]
        count = 1
        for n in shape:
            count *= n
        if kind in ("F32", "F16", "BF16"):
            most = min(count, 1 << 20)
            scale = shape[-1] ** -0.5
            numbers = [self.rng.gauss(0, scale) for _ in range(most)]
            code = {"F32": "f", "F16": "e"}.get(kind)
            if code:
                data = struct.pack(f"<{most}{code}", *numbers)
            else:
                data = b"".join(struct.pack("<f", v)[2:] for v in numbers)
        else:
            # Codes are up to about 2^bits, and scales are halves of this exponent.
            exponent = {"Q8_0": 2, "IQ4_NL": 2, "Q4_0": 5, "Q4_1": 5, "Q5_0": 4, "Q5_1": 4}.get(kind, 1)
            blocks = min(count // elements, 1 << 14)
            data = random_blocks(self.rng, kind, blocks, exponent, exponent)
            if kind == "MXFP4":
                data = bytearray(data)
                for block in range(blocks):
                    data[block * size] = 121 + self.rng.randint(0, 2)
                data = bytes(data)
        need = count // elements * size
        data = (data * (need // len(data) + 1))[:need]
        self.file.add_tensor(name, kind, shape, data)

    def metadata(self):
        """The keys that the architecture has."""
        a, name = self.args, self.name
        add = self.file.add
        add("general.architecture", name)
        add("general.name", f"random {a.architecture}")
        for key, value in (("block_count", a.layers), ("context_length", a.context),
                           ("embedding_length", a.width), ("feed_forward_length", a.feed_forward),
                           ("attention.head_count", a.heads), ("attention.head_count_kv", a.kv_heads),
                           ("attention.key_length", a.head), ("attention.value_length", a.head),
                           ("attention.layer_norm_rms_epsilon", 1e-5), ("rope.freq_base", 10000.0),
                           ("rope.dimension_count", a.head), ("vocab_size", a.vocabulary)):
            add(f"{name}.{key}", value)
        if self.is_moe:
            add(f"{name}.expert_count", a.experts)
            add(f"{name}.expert_used_count", 2)
            add(f"{name}.expert_feed_forward_length", a.feed_forward)
        if name.startswith("gemma") or name == "phi3":
            add(f"{name}.attention.sliding_window", a.window)
        if name == "gemma2":
            add("gemma2.attn_logit_softcapping", 50.0)
            add("gemma2.final_logit_softcapping", 30.0)
        if a.rope_scaling:
            add(f"{name}.rope.scaling.type", a.rope_scaling)
            add(f"{name}.rope.scaling.factor", 4.0)
            add(f"{name}.rope.scaling.original_context_length", a.context // 4)
        if a.rope_scaling == "longrope":
            add(f"{name}.rope.scaling.attn_factor", 1.2)
        if a.vocabulary < BYTE_TOKENS + 3:
            return  # too few for a tokenizer
        tokens = byte_spellings()
        tokens += ["th", "the"]
        tokens += [f"<|{i}|>" for i in range(a.vocabulary - len(tokens) - 1)] + ["<|im_end|>"]
        add("tokenizer.ggml.model", "gpt2")
        add("tokenizer.ggml.pre", "default")
        add("tokenizer.ggml.tokens", tokens[:a.vocabulary])
        add("tokenizer.ggml.token_type", [1] * (BYTE_TOKENS + 2) + [3] * (a.vocabulary - BYTE_TOKENS - 2))
        add("tokenizer.ggml.merges", ["t h", "th e"])
        add("tokenizer.ggml.eos_token_id", a.vocabulary - 1)
        add("tokenizer.chat_template", CHAT)

    def layer(self, i):
        """The tensors of one layer."""
        a, name, p = self.args, self.name, f"blk.{i}."
        nq, nk = a.heads * a.head, a.kv_heads * a.head
        self.floats(p + "attn_norm.weight", (a.width,), 1)
        self.floats(p + "ffn_norm.weight", (a.width,), 1)
        if name == "phi3":
            self.matrix(p + "attn_qkv.weight", (nq + 2 * nk, a.width))
        else:
            for part, rows in (("q", nq), ("k", nk), ("v", nk)):
                self.matrix(p + f"attn_{part}.weight", (rows, a.width))
                if name == "qwen2":
                    self.floats(p + f"attn_{part}.bias", (rows,))
        if name.startswith("qwen3") or name == "gemma3":
            self.floats(p + "attn_q_norm.weight", (a.head,), 1)
            self.floats(p + "attn_k_norm.weight", (a.head,), 1)
        if name.startswith("gemma"):
            self.floats(p + "post_attention_norm.weight", (a.width,), 1)
            self.floats(p + "post_ffw_norm.weight", (a.width,), 1)
        self.matrix(p + "attn_output.weight", (a.width, nq))
        n = a.feed_forward
        if self.is_moe:
            self.matrix(p + "ffn_gate_inp.weight", (a.experts, a.width), "F32")
            self.matrix(p + "ffn_gate_exps.weight", (a.experts, n, a.width))
            self.matrix(p + "ffn_up_exps.weight", (a.experts, n, a.width))
            self.matrix(p + "ffn_down_exps.weight", (a.experts, a.width, n))
            return
        if name == "phi3":
            self.matrix(p + "ffn_up.weight", (2 * n, a.width))
        else:
            self.matrix(p + "ffn_gate.weight", (n, a.width))
            self.matrix(p + "ffn_up.weight", (n, a.width))
        self.matrix(p + "ffn_down.weight", (a.width, n))

    def make(self):
        """The file."""
        a = self.args
        self.metadata()
        self.matrix("token_embd.weight", (a.vocabulary, a.width))
        for i in range(a.layers):
            self.layer(i)
        self.floats("output_norm.weight", (a.width,), 1)
        if self.name in ("llama", "phi3", "qwen3moe"):
            self.matrix("output.weight", (a.vocabulary, a.width))
        if a.rope_factors:
            name = {"phi3": "rope_factors_short"}.get(self.name, "rope_freqs")
            self.floats(name + ".weight", (a.head // 2,), 2, 0.3)
            if self.name == "phi3":
                self.floats("rope_factors_long.weight", (a.head // 2,), 4, 0.3)
        return self.file


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--architecture", choices=ARCHITECTURES, default="llama")
    parser.add_argument("--type", choices=TYPES, default="Q8_0", help="of the matrices")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in (("layers", 2), ("width", 32), ("feed-forward", 64), ("heads", 4),
                        ("kv-heads", 2), ("head", 8), ("vocabulary", 288), ("context", 256),
                        ("experts", 4), ("window", 20)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--rope-scaling", choices=("linear", "yarn", "longrope"))
    parser.add_argument("--rope-factors", action="store_true")
    parser.add_argument("output")
    args = parser.parse_args()
    Maker(args).make().write(args.output)


if __name__ == "__main__":
    main()
