"""Makes the pictures and sounds of this folder, and the numbers that reading them must give.

    python3 testdata/media/make.py

Needs numpy and Pillow. The numbers are computed by numpy from the pixels and samples, not from what
tg reads: NAME.npy is what file NAME holds, resized_*.npy what a picture becomes.
"""

import os
import struct

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(HERE, name)


def pixels(height, width, channels, seed):
    """Smooth, so that JPEG keeps it, with other values in each channel."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for _ in range(channels):
        a, b, c = rng.uniform(0.1, 0.6, 3)
        planes.append(127.5 + 120 * np.sin(a * y + 6 * c) * np.cos(b * x))
    return np.clip(np.stack(planes, axis=-1), 0, 255).astype(np.uint8)


def weights(size, begin, end, count):
    """The matrix of a triangle filter, wide enough to average where pixels are left out."""
    step = (end - begin) / count
    wide = max(1.0, step)
    centers = begin + (np.arange(count) + 0.5) * step
    w = np.maximum(0, 1 - np.abs(np.arange(size) + 0.5 - centers[:, None]) / wide)
    return w / w.sum(axis=1, keepdims=True)


def resize(image, height, width, window=None):
    h, w = image.shape[:2]
    top, left, bottom, right = window or (0, 0, h, w)
    rows, columns = weights(h, top, bottom, height), weights(w, left, right, width)
    return np.einsum("ah,hwc,bw->abc", rows, image.astype(np.float64), columns)


def make_pictures():
    rgb = pixels(13, 20, 3, 1)
    Image.fromarray(rgb).save(path("rgb.png"))
    Image.fromarray(rgb).save(path("rgb.bmp"))
    Image.fromarray(rgb).save(path("rgb.jpg"), quality=98, subsampling=0)
    Image.fromarray(rgb).save(path("progressive.jpg"), quality=98, subsampling=0, progressive=True)
    np.save(path("rgb.npy"), rgb)
    gray = pixels(9, 7, 1, 2)
    Image.fromarray(gray[..., 0]).save(path("gray.png"))
    np.save(path("gray.npy"), gray)
    rgba = pixels(6, 5, 4, 3)
    Image.fromarray(rgba, "RGBA").save(path("rgba.png"))
    np.save(path("rgba.npy"), rgba)

    # As networks for ImageNet want it: resized, planes, normalized.
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    small = resize(rgb, 8, 8)
    np.save(path("resized_imagenet.npy"),
            ((small / 255 - mean) / std).transpose(2, 0, 1)[None].astype(np.float32))
    # Enlarged, the middle, in u8, blue first.
    scale = max(30 / 13, 16 / 20)
    dx = (20 - 16 / scale) / 2
    crop = resize(rgb, 30, 16, (0, dx, 13, 20 - dx))
    np.save(path("resized_crop.npy"), np.rint(crop[..., ::-1]).astype(np.uint8)[None])
    # The whole picture at the left, the rest filled.
    pad = np.full((10, 18, 3), 114.0)
    pad[:, :round(20 * 10 / 13)] = resize(rgb, 10, round(20 * 10 / 13))
    np.save(path("resized_pad.npy"), (pad / 255).astype(np.float32))
    # Gray, with rows that keep the aspect.
    one = rgb @ np.array([0.299, 0.587, 0.114])
    np.save(path("resized_gray.npy"), (resize(one[..., None], 26, 40) / 127.5 - 1)
            .astype(np.float32)[None].transpose(0, 3, 1, 2))
    near = np.asarray(Image.fromarray(rgb).resize((8, 8), Image.Resampling.BILINEAR))
    assert np.abs(near - small).max() <= 1.01, "Pillow resizes in another way"


def wav(name, tag, bits, rate, channels, data, extensible=False):
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, rate, rate * frame, frame, bits)
    if extensible:
        form += struct.pack("<HHI", 22, bits, 0) + struct.pack("<H", tag) + bytes(14)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form
    body += b"LIST" + struct.pack("<I", 3) + b"abc\0"  # of odd length, so that a byte follows
    body += b"data" + struct.pack("<I", len(data)) + data
    with open(path(name), "wb") as out:
        out.write(b"RIFF" + struct.pack("<I", len(body)) + body)


def make_sounds():
    count = 40
    t = np.arange(count)
    stereo = np.stack([0.9 * np.sin(0.3 * t), 0.5 * np.cos(0.2 * t)], axis=-1)
    for bits in 8, 16, 24, 32:
        full = 2 ** (bits - 1)
        whole = np.clip(np.rint(stereo * full), -full, full - 1).astype(np.int64)
        if bits == 8:
            data = (whole + 128).astype(np.uint8).tobytes()
        else:
            data = b"".join(int(v).to_bytes(bits // 8, "little", signed=True) for v in whole.ravel())
        wav("pcm%d.wav" % bits, 1, bits, 8000, 2, data, extensible=bits == 24)
        np.save(path("pcm%d.npy" % bits), (whole / full).mean(axis=1).astype(np.float32))
    wav("float.wav", 3, 32, 8000, 1, stereo[:, 0].astype("<f4").tobytes())
    np.save(path("float.npy"), stereo[:, 0].astype(np.float32))

    # Half of the rate: a windowed sinc over 16 zero crossings of the new rate on each side.
    x = stereo[:, 0].astype(np.float32).astype(np.float64)
    d = (np.arange(count) - 2 * np.arange(count // 2)[:, None]) / 2
    w = np.where(np.abs(d) < 16, np.sinc(d) * (0.5 + 0.5 * np.cos(np.pi * d / 16)), 0)
    np.save(path("resampled.npy"), ((w / w.sum(axis=1, keepdims=True)) @ x).astype(np.float32))


if __name__ == "__main__":
    make_pictures()
    make_sounds()
