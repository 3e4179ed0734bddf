"""Makes the networks of this folder, their data, and the gradients that PyTorch computes in f64.

    make.py [FOLDER]        needs torch, onnx, numpy and safetensors

Each network NAME has NAME.onnx, NAME.npz (its inputs x0, x1, ... and the target t) and
NAME.safetensors: the gradients of the mean square error of its output y. constants.onnx is
convolutions.onnx with its weights in Constant nodes.

steps.safetensors has the weights and statistics of steps.onnx after STEPS steps of SGD in training
mode, whose running variance is ONNX's, without PyTorch's factor n / (n - 1). dropout.onnx is
y = dropout(x, 0.25) * w.
"""

import os
import sys
import warnings

import numpy as np
import onnx
import torch
from safetensors.numpy import save_file
from torch import nn
from torch.nn import functional as f


class Convolutions(nn.Module):
    """What residual and mobile networks consist of: strides, groups, BatchNorm, gates, pools."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.wide = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.squeeze = nn.Conv2d(8, 2, 1)
        self.gate = nn.Conv2d(2, 8, 1)
        self.down = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.skip = nn.Conv2d(8, 12, 1, stride=2)
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        x = f.max_pool2d(f.relu(self.norm(self.stem(x))), 3, stride=2, padding=1)
        wide = f.silu(self.wide(x))
        pooled = f.adaptive_avg_pool2d(wide, 1)
        x = x + wide * torch.sigmoid(self.gate(f.silu(self.squeeze(pooled))))
        x = f.hardswish(self.down(x) + self.skip(x))
        return self.fc(x.mean((2, 3)))


class Heads(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask=None):
        b, n, width = x.shape
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / (width // self.heads)**0.5
        if mask is not None:
            causal = torch.ones(n, n, dtype=torch.bool).tril()
            scores = scores.masked_fill(~causal, float("-inf"))
            scores = scores.masked_fill(mask[:, None, None, :], -1e9)
        return self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(b, n, width))


class MaskedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Heads(12, 3)

    def forward(self, x, mask):
        return self.attention(x, mask)


class Bert(nn.Module):
    def __init__(self, width=16, length=6, tokens=11):
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.start = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(length + 1, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.attention = Heads(width, 2)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, ids):
        x = self.tokens(ids)
        x = torch.cat([self.start.expand(x.shape[0], -1, -1), x], 1) + self.positions
        x = self.norms[0](x)
        x = self.norms[1](x + self.attention(x))
        x = self.norms[2](x + self.down(f.gelu(self.up(x))))
        return torch.tanh(self.head(x[:, 0]))


class ConvolutionalLstm(nn.Module):
    """The states begin with zeros, at which tanh has the derivative 1."""

    def __init__(self, channels=2, hidden=3, steps=3):
        super().__init__()
        self.hidden, self.steps = hidden, steps
        self.gates = nn.Conv2d(channels + hidden, 4 * hidden, 3, padding=1)
        self.out = nn.Conv2d(hidden, 1, 1)

    def forward(self, x):
        h = c = torch.zeros(x.shape[0], self.hidden, *x.shape[3:])
        results = []
        for t in range(self.steps):
            gates = self.gates(torch.cat([x[:, t], torch.tanh(h)], 1)).chunk(4, 1)
            i, forget, o = (torch.sigmoid(gate) for gate in gates[:3])
            c = forget * c + i * torch.tanh(gates[3])
            h = o * torch.tanh(c)
            results.append(self.out(h))
        return torch.stack(results, 1)


class Steps(nn.Module):
    """BatchNorm of pictures and of vectors, as it is in training."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.fc = nn.Linear(6, 5)
        self.norm1 = nn.BatchNorm1d(5, momentum=0.3)
        self.out = nn.Linear(5, 3)

    def forward(self, x):
        x = f.relu(self.norm(self.conv(x))).mean((2, 3))
        return self.out(torch.tanh(self.norm1(self.fc(x))))


class Dropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(64) + 0.5)

    def forward(self, x):
        return f.dropout(x, 0.25, self.training) * self.w


STEPS = 5

NETWORKS = {
    "convolutions": (Convolutions, lambda: [torch.randn(2, 3, 20, 20)]),
    "masked_attention": (MaskedAttention, lambda: [
        torch.randn(2, 7, 12), torch.arange(7)[None] >= torch.tensor([[7], [4]])]),
    "bert": (Bert, lambda: [torch.randint(0, 11, (3, 6))]),
    "convolutional_lstm": (ConvolutionalLstm, lambda: [torch.randn(2, 3, 2, 5, 6)]),
}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    warnings.filterwarnings("ignore")
    torch.set_default_dtype(torch.float64)
    for seed, (name, (make, inputs)) in enumerate(NETWORKS.items()):
        torch.manual_seed(seed)
        network, x = make().eval(), inputs()
        for statistics in network.buffers():
            if statistics.is_floating_point():
                statistics.copy_(torch.rand_like(statistics) + 0.5)
        for weight in network.parameters():
            if weight.dim() == 1:  # the exporter would share equal ones
                weight.data += 0.1 * torch.randn_like(weight)
        y = network(*x)
        target = torch.randn_like(y).float().double()  # exact as the target's f32
        ((y - target)**2).mean().backward()
        path = os.path.join(folder, name)
        names = ["x%d" % i for i in range(len(x))]
        torch.onnx.export(network, tuple(x), path + ".onnx", dynamo=False, opset_version=17,
                          input_names=names, output_names=["y"], do_constant_folding=False)
        np.savez(path + ".npz", t=target.numpy().astype(np.float32),
                 **{n: value.numpy() for n, value in zip(names, x)})
        save_file({n: p.grad.numpy() for n, p in network.named_parameters()},
                  path + ".safetensors")
    move_to_constants(os.path.join(folder, "convolutions.onnx"),
                      os.path.join(folder, "constants.onnx"))
    make_steps(folder)


def make_steps(folder):
    torch.manual_seed(0)
    network = Steps().float()
    for weight in network.parameters():
        if weight.dim() == 1:
            weight.data += 0.1 * torch.randn_like(weight)
    x, target = torch.randn(6, 2, 5, 5).float(), torch.randn(6, 3).float()
    export(network, x, os.path.join(folder, "steps"), target)
    network, x, target = network.double(), x.double(), target.double()
    optimizer = torch.optim.SGD(network.parameters(), 0.1, momentum=0.9)
    norms = [network.norm, network.norm1]
    counts = [x.numel() // 2, x.shape[0]]
    for _ in range(STEPS):
        before = [norm.running_var.clone() for norm in norms]
        optimizer.zero_grad()
        ((network(x) - target)**2).mean().backward()
        optimizer.step()
        for norm, old, n in zip(norms, before, counts):
            now = (norm.running_var - (1 - norm.momentum) * old) * (n - 1) / n
            norm.running_var.copy_((1 - norm.momentum) * old + now)
    save_file({n: p.numpy() for n, p in network.state_dict().items() if p.is_floating_point()},
              os.path.join(folder, "steps.safetensors"))
    torch.manual_seed(1)
    export(Dropout().float(), torch.rand(1, 64).float() + 0.5, os.path.join(folder, "dropout"),
           torch.randn(1, 64).float())


def export(network, x, path, target):
    """In training mode, with an open batch. The statistics are those after the export's own run."""
    torch.onnx.export(network.train(), (x,), path + ".onnx", dynamo=False, opset_version=17,
                      input_names=["x"], output_names=["y"], do_constant_folding=False,
                      training=torch.onnx.TrainingMode.TRAINING,
                      dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
    np.savez(path + ".npz", x=x.numpy(), t=target.numpy())


def move_to_constants(source, path):
    """Writes the initializers as Constant nodes, as converters from Paddle do."""
    model = onnx.load(source)
    nodes = [onnx.helper.make_node("Constant", [], [tensor.name], value=tensor)
             for tensor in model.graph.initializer] + list(model.graph.node)
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, path)


if __name__ == "__main__":
    main()
