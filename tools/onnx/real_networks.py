"""Runs downloaded ONNX networks on real inputs, through tg-run and ONNX Runtime, and prints answers.

    pip download --no-deps -d WHEELS rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3 magika==1.0.3 \\
        ddddocr==1.6.1 adaptive-terrain-diffusion==0.4.2
    python3 tools/onnx/real_networks.py WHEELS --json=docs/benchmarks/onnx_networks.json --machine="..."

Needs the Python packages onnx, onnxruntime, numpy and Pillow, the program espeak-ng, and a font. The
inputs are made here: a page and a line of text, a captcha, speech and silence, files of ten kinds,
noise. tg-run reads pictures and sounds itself; ONNX Runtime gets the numbers that it read.
"""

import argparse
import datetime
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx
from PIL import Image, ImageDraw, ImageFont

import versus_onnxruntime

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
PAGE = ["Open the window", "42 kernels, 3 devices", "tensor programs"]
CAPTCHA = "7kd3"
SPOKEN = "Hello. The quick brown fox jumps over the lazy dog."
TREE = pathlib.Path(__file__).resolve().parent.parent.parent


def draw_page(path):
    page = Image.new("RGB", (640, 320), (250, 250, 245))
    pen = ImageDraw.Draw(page)
    for i, text in enumerate(PAGE):
        font = ImageFont.truetype(FONT, 36 + 4 * i)
        pen.text((60 + 30 * i, 40 + 90 * i), text, font=font, fill=(20, 20, 60))
    page.save(path, quality=92)


def draw_captcha(path):
    picture = Image.new("RGB", (160, 64), (235, 240, 230))
    pen = ImageDraw.Draw(picture)
    rng = np.random.default_rng(5)
    for i, letter in enumerate(CAPTCHA):
        tile = Image.new("L", (48, 56))
        ImageDraw.Draw(tile).text((10, 4), letter, font=ImageFont.truetype(FONT, 38), fill=255)
        tile = tile.rotate(int(rng.integers(-15, 16)))
        picture.paste((30, 60, 120), (8 + 36 * i, 2 + int(rng.integers(0, 6))), tile)
    for _ in range(3):
        ends = [int(v) for v in rng.integers(0, 64, 4)]
        pen.line((ends[0], ends[1], 159 - ends[2], ends[3]), fill=(150, 150, 170))
    picture.save(path)


def files_of_ten_kinds(folder):
    """Files whose kinds magika should tell, by the label that it has for each."""
    picture = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(picture, "PNG")
    jpeg = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(jpeg, "JPEG")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a.txt", "hello\n" * 100)
    database = folder / "t.db"
    with sqlite3.connect(database) as connection:
        connection.execute("create table t (a int, b text)")
    return {
        "python": (TREE / "tools/onnx/versus_onnxruntime.py").read_bytes(),
        "cpp": (TREE / "runtime/media/picture.cc").read_bytes(),
        "markdown": (TREE / "CONTRIBUTING.md").read_bytes(),
        "shell": (TREE / "tools/setup.sh").read_bytes(),
        "png": picture.getvalue(),
        "jpeg": jpeg.getvalue(),
        "zip": archive.getvalue(),
        "elf": pathlib.Path("/bin/true").read_bytes(),
        "sqlite": database.read_bytes(),
        "wav": (folder / "speech.wav").read_bytes(),
    }


def magika_bytes(content, size=1024, block=4096, padding=256):
    """The first and the last bytes of a file, as magika takes them."""
    first = np.frombuffer(content[:block].lstrip()[:size], np.uint8)
    last = np.frombuffer(content[-block:].rstrip()[-size:], np.uint8)
    out = np.full(2 * size, padding, np.int32)
    out[: len(first)] = first
    out[2 * size - len(last):] = last
    return out


def decode_ctc(classes, characters):
    """The text of a row of classes: repeated ones count once, class 0 is a gap."""
    kept = [c for i, c in enumerate(classes) if c != 0 and (i == 0 or c != classes[i - 1])]
    return "".join(characters[c] for c in kept)


def lines_of(mask):
    """The boxes of the lines of a page: rows with text, and in each its first and last column."""
    rows = np.flatnonzero(np.r_[False, mask.any(axis=1), False][1:] != np.r_[False, mask.any(axis=1)])
    for top, bottom in zip(rows[::2], rows[1::2]):
        columns = np.flatnonzero(mask[top:bottom].any(axis=0))
        if bottom - top >= 4:
            yield top, bottom, columns[0], columns[-1] + 1


class Networks:
    def __init__(self, args, folder):
        self.args, self.folder, self.rows = args, folder, []
        for wheel in pathlib.Path(args.wheels).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)

    def run(self, work, path, inputs, answer):
        """One row of the table; `answer` tells it from tg's outputs."""
        if self.args.only and self.args.only not in work:
            return None
        with tempfile.TemporaryDirectory() as temporary:
            temporary = pathlib.Path(temporary)
            row = versus_onnxruntime.measure(self.args, self.folder / path, inputs, temporary)
            row["work"] = work
            outputs = [np.load(f) for f in sorted(temporary.glob("out*.npy"))]
            row["answer"] = answer(outputs) if "error" not in row else ""
        row["load"] = os.getloadavg()[0]
        self.rows.append(row)
        print(json.dumps(row, ensure_ascii=False), flush=True)
        return outputs

    def read_text(self):
        page = self.folder / "page.jpg"
        draw_page(page)
        models = pathlib.Path("rapidocr_onnxruntime/models")
        normal = ":mean=0.485,0.456,0.406:std=0.229,0.224,0.225:channels=bgr"
        found = self.run("PP-OCRv4 detector, a page of 320 x 640", models / "ch_PP-OCRv4_det_infer.onnx",
                         {"x": f"{page}{normal}"},
                         lambda out: f"{len(list(lines_of(out[0][0, 0] > 0.3)))} lines")
        boxes = list(lines_of(found[0][0, 0] > 0.3)) if found else [(30, 90, 40, 400)]
        recognizer = models / "ch_PP-OCRv4_rec_infer.onnx"
        metadata = onnx.load(self.folder / recognizer).metadata_props
        characters = ["", *next(p.value for p in metadata if p.key == "character").splitlines(), " "]
        for i, (top, bottom, left, right) in enumerate(boxes):
            margin = (bottom - top) // 2  # the detector marks the middle of the letters
            line = self.folder / f"line{i}.png"
            Image.open(page).crop((left - margin, top - margin, right + margin, bottom + margin)).save(line)
            pad = ":size=48x480:resize=pad:fill=127.5:mean=0.5:std=0.5:channels=bgr"
            self.run(f"PP-OCRv4 recogniser, line {i + 1} of that page, 48 x 480", recognizer,
                     {"x": f"{line}{pad}"},
                     lambda out: repr(decode_ctc(out[0][0].argmax(-1), characters)))
        for angle in 0, 180:
            line = self.folder / f"turned{angle}.png"
            Image.open(self.folder / "line0.png").rotate(angle).save(line)
            self.run(f"PP-OCR direction, line 1 turned by {angle} degrees, 48 x 192",
                     models / "ch_ppocr_mobile_v2.0_cls_infer.onnx",
                     {"x": f"{line}:size=48x192:mean=0.5:std=0.5:channels=bgr"},
                     lambda out: f"{[0, 180][int(out[0].argmax())]} degrees, {out[0].max():.3f}")

    def hear_speech(self):
        speech = self.folder / "speech.wav"
        subprocess.run(["espeak-ng", "-w", str(speech), SPOKEN], check=True)
        silence = self.folder / "silence.wav"
        header = speech.read_bytes()[:44]
        noise = np.random.default_rng(1).normal(0, 3, (len(speech.read_bytes()) - 44) // 2)
        silence.write_bytes(header + noise.astype("<i2").tobytes())
        state = {"h": np.zeros((1, 1, 128), np.float32), "c": np.zeros((1, 1, 128), np.float32)}
        for what, path in ("speech", speech), ("silence", silence):
            self.run(f"silero-vad, 3.5 s of {what} in frames of 576 samples",
                     "silero_vad/data/silero_vad_16k_sequence.onnx",
                     {"input": f"{path}:rate=16000:hop=512:lead=64", **state},
                     lambda out: f"{(out[0] > 0.5).mean():.0%} of frames are speech, at most {out[0].max():.3f}")
            self.run(f"silero-vad, nested If, one frame of {what}", "silero_vad/data/silero_vad.onnx",
                     {"input": f"{path}:rate=16000:start=0.1:length=576",
                      "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(16000, np.int64)},
                     lambda out: f"probability {out[0].item():.3f}")

    def tell_files(self):
        config = json.loads((self.folder / "magika/models/standard_v3_3/config.min.json").read_text())
        labels, files = config["target_labels_space"], files_of_ten_kinds(self.folder)

        def answer(out):
            got = [labels[c] for c in out[0].argmax(-1)]
            wrong = [f"{g} for {w}" for g, w in zip(got, files) if g != w]
            return f"{len(files) - len(wrong)} of {len(files)} right" + "".join(f", {w}" for w in wrong)

        self.run("magika, ten files", "magika/models/standard_v3_3/model.onnx",
                 {"bytes": np.stack([magika_bytes(f) for f in files.values()])}, answer)

    def read_captcha(self):
        captcha = self.folder / "captcha.png"
        draw_captcha(captcha)
        charsets = {}
        exec((self.folder / "ddddocr/charsets.py").read_text(), charsets)  # a table of characters
        for model, charset in ("common_old", "CHARSET_OLD"), ("common", "CHARSET_BETA"):
            self.run(f"ddddocr {model}, a captcha of 64 x 160", f"ddddocr/{model}.onnx",
                     {"input1": str(captcha)},
                     lambda out: repr(decode_ctc(out[0][:, 0].argmax(-1), charsets[charset])))
        self.run("ddddocr YOLOX detector, that captcha in 416 x 416", "ddddocr/common_det.onnx",
                 {"images": f"{captcha}:resize=pad:fill=114:scale=1:channels=bgr"},
                 lambda out: f"{(out[0][0, :, 4] * out[0][0, :, 5] > 0.3).sum()} boxes before suppression")

    def denoise(self):
        rng = np.random.default_rng(1)
        noise = rng.standard_normal((1, 1, 128, 128)).astype(np.float32)
        self.run("terrain diffusion UNet, one step", "terrain_diffusion/weights/terrain_consistency_unet_difficulty100.onnx",
                 {"noisy": noise, "sigma": np.array([0.5], np.float32), "difficulty": np.array([0.5], np.float32)},
                 lambda out: f"standard deviation {noise.std():.2f} to {out[0].std():.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("wheels", help="the folder of the wheels")
    parser.add_argument("--tg-run", default="bazel-bin/tools/tg-run")
    parser.add_argument("--device", default="")
    parser.add_argument("--only", default="", help="rows with this in their description")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--machine", default="")
    parser.add_argument("--json", default="", help="the table for docs/benchmarks")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        networks = Networks(args, pathlib.Path(folder))
        networks.hear_speech()
        networks.tell_files()
        networks.read_captcha()
        networks.read_text()
        networks.denoise()
    if args.json:
        write_table(args, networks.rows)
    return 1 if any("error" in row for row in networks.rows) else 0


def write_table(args, rows):
    table = {
        "order": 16, "title": "ONNX networks",
        "note": "[real_networks.py](../tools/onnx/real_networks.py): real inputs, least of "
                f"{args.repeat} runs of each, with launches; then the number of kernels, the largest "
                "difference relative to the largest value, seconds of a process with empty and with full "
                "caches, and the answer.",
        "unit": "ms", "peer": f"ONNX Runtime {versus_onnxruntime.onnxruntime.__version__}, two threads",
        "measured": datetime.date.today().isoformat(), "machine": args.machine,
        "rows": [{"work": f"{r['work']}: {r['kernels']} kernels, difference {r['difference']:.1e}, "
                          f"{r['first_s']:.1f} s and {r['later_s']:.1f} s; {r['answer']}",
                  "tg": round(r["tg_ms"], 2), "peer": round(r["onnxruntime_ms"], 2)}
                 for r in rows if "error" not in r],
    }
    pathlib.Path(args.json).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
