"""Kernels with random opts of tinygrad's own search, run through tg and compared with numpy.

    TG_SERVE=path/to/tg-serve python3 random_opts.py [SEED [COUNT]]

Needs tinygrad v0.10.3 and numpy. Exit code 1 where a number differs or tg fails.
"""

import collections
import random
import sys

import tinygrad_bridge  # before tinygrad

import numpy as np
from kernel_bridge import NotThroughTg
from tinygrad import Tensor
from tinygrad.codegen.kernel import Kernel
from tinygrad.engine.realize import CompiledRunner, ExecItem
from tinygrad.engine.search import get_kernel_actions

assert tinygrad_bridge


def numbers(*shape):
    return np.random.default_rng(len(shape)).random(shape, dtype=np.float32)


def conv(x, w):
    """3 x 3, padded by 1."""
    p = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    n = x.shape[2]
    return sum(np.einsum("bchw,oc->bohw", p[:, :, y:y + n, z:z + n], w[:, :, y, z])
               for y in range(3) for z in range(3))


X, A, B = numbers(30, 7, 12), numbers(32, 48), numbers(48, 16)
IMAGE, FILTER = numbers(2, 4, 18, 18), numbers(8, 4, 3, 3)
PADS = ((1, 1), (0, 2), (3, 0))
# Computations in tinygrad on tensors of these arrays, and the expected results.
CASES = {
    "matmul": (lambda a, b: a @ b, (A, B), lambda: A @ B),
    "conv": (lambda x, w: x.conv2d(w, padding=1), (IMAGE, FILTER), lambda: conv(IMAGE, FILTER)),
    "sums": (lambda x: x.sum((0, 2)), (X,), lambda: X.sum((0, 2))),
    "sum": (lambda x: x.sum(1), (X,), lambda: X.sum(1)),
    "max": (lambda x: x.max(2), (X,), lambda: X.max(2)),
    "turn": (lambda x: x.permute(2, 0, 1) * 2 + 1, (X,), lambda: X.transpose(2, 0, 1) * 2 + 1),
    "pad": (lambda x: x.pad(PADS) + 1, (X,), lambda: np.pad(X, PADS) + 1),
    "arange": (lambda: Tensor.arange(96).reshape(8, 12) * 2, (), lambda: np.arange(96).reshape(8, 12) * 2),
}


def check(name):
    """The outcome of one kernel of this case."""
    make, arrays, want = CASES[name]
    out = make(*(Tensor(a).realize() for a in arrays))
    (item,) = out.schedule()
    kernel = Kernel(item.ast)
    for _ in range(random.randint(0, 4)):
        actions = list(get_kernel_actions(kernel, include_0=False).values())
        kernel = random.choice(actions) if actions else kernel
    try:
        program = kernel.to_program()
        ExecItem(CompiledRunner(program), [item.bufs[i] for i in program.globals]).run()
    except NotThroughTg as error:
        return f"not known in tg: {error}"
    except RuntimeError as error:
        print(name, kernel.applied_opts, error)
        return "failed"
    if np.allclose(out.numpy(), want(), rtol=1e-4, atol=1e-5):
        return "equal"
    print(name, kernel.applied_opts, "differs by", np.abs(out.numpy() - want()).max())
    return "different"


def main():
    seed, count = [int(a) for a in sys.argv[1:]] + [1, 100][len(sys.argv) - 1:]
    random.seed(seed)
    found = collections.Counter(check(random.choice(list(CASES))) for _ in range(count))
    print(dict(found))
    sys.exit(found["different"] + found["failed"] > 0)


if __name__ == "__main__":
    main()
