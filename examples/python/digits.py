"""Recognises a digit, then many frames of one as a camera would give them: digits.py MODEL DIGIT.npy [FRAMES]"""

import sys
import time

import numpy as np

import tg

model = tg.load(sys.argv[1], device="cpu")
picture = np.load(sys.argv[2]).astype(np.float32).reshape(1, 1, 8, 8)
print("class", model(picture).argmax())

seconds = []
for frame in range(int(sys.argv[3]) if len(sys.argv) > 3 else 0):
    picture.flat[frame % 64] += 1
    start = time.perf_counter()
    model(picture)
    seconds.append(time.perf_counter() - start)
if seconds:
    p50, p99 = 1e6 * np.percentile(seconds, [50, 99])
    print(f"{len(seconds)} frames: p50 {p50:.1f} us, p99 {p99:.1f} us")
