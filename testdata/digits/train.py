#!/usr/bin/env python3
"""Trains the digit classifier of this folder and writes its weights and its held-out data.

The data are the 1797 handwritten digits (8x8, values 0..16) that scikit-learn ships. A stratified
fifth (360 pictures) is held out and read only after the last training step: the number of steps, the
learning rate and the augmentation are constants, chosen with `--validate`, which splits the
*training* part once more and leaves the held-out part alone.

The network, for a batch of N raw pictures [N, 1, 8, 8]:
  x / 16
  conv1 3x3, pad 1,  1 -> 16, relu                [N, 16, 8, 8]
  conv2 3x3, pad 1, 16 -> 32, relu, maxpool 2x2   [N, 32, 4, 4]
  conv3 3x3, no pad, 32 -> 64, relu               [N, 64, 2, 2]
  fc    256 -> 10                                 [N, 10] logits

Needs torch, scikit-learn, numpy and safetensors; one thread, a minute. A run repeats bit for bit
with the same torch on the same kind of CPU; elsewhere rounding may differ.

Usage: train.py [--out=DIR] [--validate]
"""

import argparse
import math
import pathlib

import numpy as np
import safetensors.torch
import sklearn.datasets
import sklearn.model_selection
import torch
import torch.nn.functional as F

SEED = 20
HELD_OUT = 360
EPOCHS = 80
BATCH = 64
PEAK_LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-2
LABEL_SMOOTHING = 0.05


class DigitNet(torch.nn.Module):
    """Three convolutions and a linear layer; takes raw pictures, so scaling is part of it."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.conv3 = torch.nn.Conv2d(32, 64, 3)
        self.fc = torch.nn.Linear(256, 10)

    def forward(self, x):
        x = x * 0.0625
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.conv3(x))
        return self.fc(x.flatten(1))


def augment(x, rng):
    """Random small rotation, scaling and sub-pixel shift of each picture; f32 [n, 1, 8, 8]."""
    n = len(x)
    uniform = lambda bound: (torch.rand(n, generator=rng) * 2 - 1) * bound
    angle, shift_x, shift_y = uniform(math.radians(10)), uniform(0.2), uniform(0.2)
    scale_x, scale_y = 1 + uniform(0.1), 1 + uniform(0.1)
    cos, sin = torch.cos(angle), torch.sin(angle)
    theta = torch.stack(
        [torch.stack([cos * scale_x, -sin * scale_y, shift_x], 1),
         torch.stack([sin * scale_x, cos * scale_y, shift_y], 1)], 1)
    grid = F.affine_grid(theta, list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, align_corners=False)


def train(x, y):
    """Trains on all of x, y for a fixed number of steps; nothing is selected along the way."""
    torch.manual_seed(SEED)
    rng = torch.Generator().manual_seed(SEED)
    net = DigitNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=PEAK_LEARNING_RATE,
                                  weight_decay=WEIGHT_DECAY)
    steps = EPOCHS * math.ceil(len(x) / BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, steps)
    net.train()
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x), generator=rng).split(BATCH):
            logits = net(augment(x[batch], rng))
            loss = F.cross_entropy(logits, y[batch], label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net.eval()


def right(logits, y):
    return int((logits.argmax(1) == y).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--validate", action="store_true",
                        help="train on four fifths of the training part, print the accuracy on "
                        "its last fifth, write nothing")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    digits = sklearn.datasets.load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    split = lambda index, count: sklearn.model_selection.train_test_split(
        index, test_size=count, stratify=digits.target[index], random_state=SEED)
    train_index, held_out_index = split(np.arange(len(x)), HELD_OUT)

    if args.validate:
        fit_index, check_index = split(train_index, len(train_index) // 5)
        net = train(x[fit_index], y[fit_index])
        with torch.no_grad():
            correct = right(net(x[check_index]), y[check_index])
        print(f"validation: {correct}/{len(check_index)} = {correct / len(check_index):.4f}")
        return

    net = train(x[train_index], y[train_index])
    images, labels = x[held_out_index], y[held_out_index]
    with torch.no_grad():
        train_correct = right(net(x[train_index]), y[train_index])
        logits = net(images)
        weights = {name: value.clone() for name, value in net.state_dict().items()}
        exact = net.double()(images.double())
    correct = right(logits, labels)
    print(f"train:    {train_correct}/{len(train_index)}")
    print(f"held out: {correct}/{HELD_OUT} = {correct / HELD_OUT:.4f}")
    print(f"largest |logit|: {float(exact.abs().max()):.3f}")
    print(f"largest difference, float32 from float64: {float((logits - exact).abs().max()):.3g}")
    top = exact.topk(2, 1).values
    print(f"smallest lead of the best logit: {float((top[:, 0] - top[:, 1]).min()):.3g}")

    (args.out / "digits.safetensors").write_bytes(safetensors.torch.save(weights))
    np.savez(args.out / "train.npz", x=x[train_index].numpy().astype(np.uint8),
             labels=y[train_index].numpy().astype(np.uint8))
    np.save(args.out / "heldout_images.npy", images.numpy())
    np.save(args.out / "heldout_labels.npy", labels.numpy().astype(np.int32))
    np.save(args.out / "heldout_logits.npy", logits.numpy())
    np.save(args.out / "digit.npy", images[:1].numpy())


if __name__ == "__main__":
    main()
