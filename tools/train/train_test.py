"""tg-train on the digits: from nothing, killed and resumed, and with what is wrong.

    train_test.py TG_TRAIN TG_OPT DIGITS_FOLDER
"""

import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile


def npy(kind, shape, data):
    """The bytes of an array's file; kind: as '<f4'."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        kind, "".join("%d, " % d for d in shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def tensors(path):
    """{name: bytes} of a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    return {name: data[slice(*entry["data_offsets"])]
            for name, entry in header.items() if name != "__metadata__"}


def tensors_of_mlp(model):
    """The ranges of the file's bytes where its four weights are: element i is sin(i)."""
    found = []
    for size in (b"\x80\xc0\x01", b"\x80\x03", b"\x80\x1e", b"\x28"):  # of the field, in 7 bits a byte
        count = sum((byte & 0x7f) << 7 * i for i, byte in enumerate(size))
        start = model.index(b"\x4a" + size + bytes(4) + b"\xa5\x6a\x57\x3f") + 1 + len(size)
        found.append(range(start, start + count))
    return found


class Train(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tool, cls.opt, folder = (os.path.abspath(path) for path in sys.argv[1:])
        cls.digits = os.path.join(folder, "")
        cls.model = cls.digits + "digits_train.uop"
        cls.onnx = os.path.join(os.path.dirname(folder), "onnx", "mlp.onnx")
        cls.data = cls.digits + "train.npz"
        cls.eval = ["--eval=x=%sheldout_images.npy" % cls.digits,
                    "--eval=labels=%sheldout_labels.npy" % cls.digits]
        with zipfile.ZipFile(cls.data) as archive:
            cls.arrays = {name: archive.read(name) for name in archive.namelist()}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "")

    def command(self, *options, model=None, data=None):
        return [self.tool, model or self.model, "--loss=cross_entropy:logits,labels",
                "--data=" + (data or self.data), "--device=cpu", *options]

    def train(self, *options, code=0, **others):
        """Returns what it prints."""
        result = subprocess.run(self.command(*options, **others), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def assert_error(self, expected, *options, code=1, **others):
        printed = self.train(*options, code=code, **others)
        self.assertRegex(printed, r"\Atg-train: [^\n]*%s[^\n]*\n\Z" % expected)

    def archive(self, name="data.npz", compression=zipfile.ZIP_STORED, **arrays):
        with zipfile.ZipFile(self.folder + name, "w", compression) as archive:
            for array, contents in arrays.items():
                archive.writestr(array + ".npy", contents)
        return self.folder + name

    def pixels(self, count):
        """The first images, in f32."""
        return struct.pack("<%df" % (64 * count), *self.arrays["x.npy"][-1437 * 64:][:64 * count])

    def held_out(self, printed):
        """(loss, accuracy) of the last epoch."""
        return re.findall(r"held out: loss ([\d.]+)  accuracy ([\d.]+) %", printed)[-1]

    def test_learns_from_nothing(self):
        printed = self.train("--init", "--epochs=12", "--optimizer=adamw:lr=3e-3",
                             "--schedule=cosine:warmup=50", *self.eval, "-o", self.folder + "new.uop")
        self.assertGreaterEqual(float(self.held_out(printed)[1]), 97.5, printed)
        # The model that it writes has these weights.
        again = self.train("--optimizer=sgd:lr=0", *self.eval, model=self.folder + "new.uop")
        self.assertEqual(self.held_out(again), self.held_out(printed))
        subprocess.run([self.opt, self.folder + "new.uop", "-o", os.devnull], check=True)

    def test_the_last_batch_may_be_smaller(self):
        # 360 samples in batches of 64, and in one.
        at_rest = ["--optimizer=sgd:lr=0", *self.eval]
        by_batches = self.held_out(self.train(*at_rest))
        at_once = self.held_out(self.train(*at_rest, model=self.digits + "digits_heldout.uop"))
        self.assertEqual(by_batches, at_once)

    def test_a_killed_run_goes_on_bit_for_bit(self):
        options = ["--init", "--epochs=12", "--seed=5", "--optimizer=adam:lr=1e-3"]
        self.train(*options, "-o", self.folder + "a.safetensors")
        checkpoint = ["--checkpoint=" + self.folder + "c", "--checkpoint-steps=1", "--resume",
                      "-o", self.folder + "b.safetensors"]
        killed = 0
        while True:
            changed = os.path.exists(self.folder + "c") and os.stat(self.folder + "c").st_mtime_ns
            run = subprocess.Popen(self.command(*options, *checkpoint), stderr=subprocess.DEVNULL)
            while run.poll() is None and (not os.path.exists(self.folder + "c") or
                                          os.stat(self.folder + "c").st_mtime_ns == changed):
                time.sleep(0.01)
            time.sleep(0.1)  # some steps
            if killed == 3 or run.poll() is not None:
                break
            run.send_signal(signal.SIGKILL)
            run.wait()
            killed += 1
        self.assertEqual(run.wait(), 0)
        self.assertGreater(killed, 0)
        self.assertEqual(tensors(self.folder + "a.safetensors"), tensors(self.folder + "b.safetensors"))

    def test_checkpoints_of_other_runs(self):
        checkpoint = "--checkpoint=" + self.folder + "c"
        self.train(checkpoint)
        self.assert_error("the checkpoint of a run with .*--seed=1.*; this one has .*--seed=2",
                          checkpoint, "--resume", "--seed=2")
        self.assert_error("no checkpoint of tg-train",
                          "--checkpoint=" + self.digits + "digits.safetensors", "--resume")
        with open(self.folder + "c", "r+b") as file:
            file.truncate(1000)
        self.assert_error(self.folder + "c", checkpoint, "--resume")

    def test_killed_while_it_writes_a_checkpoint(self):
        options = ["--init", "--epochs=6", "--optimizer=adam:lr=1e-3"]
        self.train(*options, "-o", self.folder + "a.safetensors")
        folder = os.path.join(self.folder, "checkpoints", "")
        os.mkdir(folder)
        checkpoint = ["--checkpoint=" + folder + "c", "--checkpoint-steps=1", "--resume"]
        parts = 0
        for _ in range(40):
            before = set(os.listdir(folder)) | {"c"}
            run = subprocess.Popen(self.command(*options, *checkpoint), stderr=subprocess.DEVNULL)
            while run.poll() is None and set(os.listdir(folder)) <= before:
                time.sleep(0.0002)
            run.send_signal(signal.SIGKILL)
            run.wait()
            parts = len(set(os.listdir(folder)) - {"c"})
            if parts > 0:
                break
        self.assertGreater(parts, 0, "no run was killed while it wrote")
        self.train(*options, *checkpoint, "-o", self.folder + "b.safetensors")
        self.assertEqual(tensors(self.folder + "a.safetensors"), tensors(self.folder + "b.safetensors"))

    def test_a_full_disk(self):
        self.assert_error("cannot write /dev/full: No space", "--checkpoint=/dev/full")

    def test_a_disk_that_fills_up(self):
        options = ["--epochs=40", "--patience=40", *self.eval]
        self.train(*options, "-o", self.folder + "a.safetensors")
        checkpoint = self.folder + "c"
        options.append("--checkpoint=" + checkpoint)
        run = subprocess.Popen(self.command(*options), stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        while run.poll() is None and not os.path.exists(checkpoint):
            time.sleep(0.001)
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (1000, 1000))
        printed = run.communicate()[1]
        self.assertEqual(run.returncode, 1, printed)
        self.assertRegex(printed, r"\A(epoch [^\n]*\n)*tg-train: [^\n]*cannot write %s: "
                                  r"File too large\n\Z" % checkpoint)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.safetensors", "c"])
        printed = self.train(*options, "--resume", "-o", self.folder + "b.safetensors")
        self.assertIn("continues with step 1 of epoch", printed)
        self.assertEqual(tensors(self.folder + "a.safetensors"), tensors(self.folder + "b.safetensors"))

    def test_early_stop(self):
        printed = self.train("--epochs=9", "--optimizer=sgd:lr=0", "--patience=2", *self.eval)
        self.assertEqual(len(re.findall("^epoch", printed, re.MULTILINE)), 3, printed)
        self.assertIn("stops: no better loss for 2 epochs", printed)

    def test_early_stop_writes_the_best_weights(self):
        output = self.folder + "best.uop"
        printed = self.train("--epochs=6", "--optimizer=sgd:lr=0.2", "--patience=6", *self.eval,
                             "-o", output)
        losses = [float(loss) for loss in re.findall("held out: loss ([\\d.]+)", printed)]
        self.assertLess(min(losses), losses[-1], "the last epoch is the best: the test tests nothing")
        again = self.train("--optimizer=sgd:lr=0", *self.eval, model=output)
        self.assertEqual(float(self.held_out(again)[0]), min(losses))

    def test_the_report_has_the_curves(self):
        report = "--report=" + self.folder + "r.html"
        def page():
            with open(self.folder + "r.html", encoding="utf-8") as file:
                return file.read()
        printed = self.train("--epochs=3", *self.eval, report)
        whole = page()
        rows = re.findall("<tr><td>(\\d)</td><td>(.*?)</td><td>(.*?)</td>", whole)
        self.assertEqual([number for number, _, _ in rows], ["1", "2", "3"])
        self.assertEqual([(loss, held) for _, loss, held in rows],
                         re.findall("loss ([\\d.]+) .* loss ([\\d.]+) ", printed))
        points = re.findall('<polyline points="(.*?)"', whole)
        self.assertEqual([len(p.split()) for p in points], [3] * 4)
        # A run that goes on has the epochs before it.
        checkpoint = "--checkpoint=" + self.folder + "c"
        self.train("--epochs=1", *self.eval, checkpoint)
        self.train("--epochs=3", *self.eval, checkpoint, "--resume", report)
        self.assertEqual(page(), whole)
        self.assert_error("cannot write /dev/full", "--report=/dev/full")

    def test_frozen_weights(self):
        output = self.folder + "w.safetensors"
        self.train("--freeze=conv1", "--freeze=conv2", "-o", output)
        self.assertEqual(sorted(tensors(output)),
                         ["conv3.bias", "conv3.weight", "fc.bias", "fc.weight"])
        self.assert_error("depends on no weight", "--freeze=conv", "--freeze=fc")

    def test_onnx_models_are_written_back(self):
        # The inputs have 64 elements, the targets are one-hot.
        pixels, labels = self.arrays["x.npy"][-1437 * 64:], self.arrays["labels.npy"][-1437:]
        hot = b"".join(struct.pack("<10f", *(float(c == label) for c in range(10)))
                       for label in labels)
        data = self.archive(x=npy("|u1", [1437, 64], pixels), t=npy("<f4", [1437, 10], hot))
        options = ["--loss=mse:y,t", "--batch=50", "--eval=" + data]
        output = self.folder + "new.onnx"
        printed = self.train(*options, "--epochs=3", "-o", output, model=self.onnx, data=data)
        losses = re.findall(r"held out: loss ([\d.]+)", printed)
        self.assertLess(float(losses[-1]), 0.8 * float(losses[0]))
        with open(self.onnx, "rb") as old, open(output, "rb") as new:
            old, new = old.read(), new.read()
        self.assertEqual(len(old), len(new))
        weights = tensors_of_mlp(old)
        for position in (i for i in range(len(old)) if old[i] != new[i]):
            self.assertTrue(any(position in part for part in weights), position)
        # Its outputs are probabilities.
        labelled = self.archive("labelled.npz", x=npy("|u1", [1437, 64], pixels),
                                labels=npy("|u1", [1437], labels))
        nll = ["--loss=nll:y,labels", "--batch=50", "--eval=" + labelled, "--epochs=12",
               "--optimizer=adam:lr=5e-3"]
        printed = self.train(*nll, model=self.onnx, data=labelled)
        self.assertGreater(float(self.held_out(printed)[1]), 75, printed)
        again = self.train(*options, "--optimizer=sgd:lr=0", model=output, data=data)
        self.assertEqual(re.findall(r"held out: loss ([\d.]+)", again), losses[-1:])
        self.assert_error("--batch: the model has batches of 64", "--batch=32")
        self.assert_error("needs an ONNX model to change", "-o", output)

    def test_adapters(self):
        options = ["--lora=rank:3:alpha=6", "--optimizer=adamw:lr=1e-2", "--epochs=2", *self.eval]
        output = self.folder + "w.safetensors"
        printed = self.train(*options, "-o", self.folder + "w.uop",
                             "--checkpoint=" + self.folder + "c")
        states = tensors(self.folder + "c")
        matrices = sorted(name for name in states if ".lora." in name and name.count(".") == 3)
        self.assertEqual(matrices, sorted(
            "%s.weight.lora.%s" % (layer, side) for side in ("left", "right")
            for layer in ("conv1", "conv2", "conv3", "fc")))
        # What is written are the weights with what the adapters add, and all others.
        old, new = tensors(self.digits + "digits.safetensors"), tensors(output)
        self.assertEqual(set(new), set(old))
        changed = {name for name in old if old[name] != new[name]}
        self.assertEqual(changed, {name for name in old if name.endswith("weight")})
        again = self.train("--optimizer=sgd:lr=0", *self.eval, model=self.folder + "w.uop")
        self.assertEqual(self.held_out(again), self.held_out(printed))
        # The first step begins with the model's weights: it has the model's loss.
        at_rest = ["--optimizer=sgd:lr=0", *self.eval]
        self.assertEqual(self.held_out(self.train("--lora=rank:2", *at_rest)),
                         self.held_out(self.train(*at_rest)))
        self.assert_error("--lora: no weight of a product has more than 64 rows and columns",
                          "--lora=rank:64")
        self.assert_error("--lora: write rank:N, with N of at least 1", "--lora=8", code=2)
        self.assert_error("--lora needs weights", "--lora=rank:2", "--init", code=2)

    def test_memory_budget(self):
        layers, width, batch = 32, 16, 512
        text = "tg 1\nmodule @deep\nbuffer @x : f32[%d, %d] input\n" % (batch, width)
        graph = "graph @main {\n  %x0 = buffer @x : f32\n  %zero = const 0.0 : f32\n"
        graph += "  %tenth = const 0.1 : f32\n"
        for i in range(layers):
            text += "buffer @w%d : f32[%d, %d] param\n" % (i, width, width)
            graph += """
  %w{i} = buffer @w{i} : f32
  %a{i} = reshape %x{i} {{shape = [{b}, 1, {n}]}} : f32
  %b{i} = broadcast %a{i} {{shape = [{b}, {n}, {n}]}} : f32
  %c{i} = broadcast %w{i} {{shape = [{b}, {n}, {n}]}} : f32
  %d{i} = mul %b{i}, %c{i} : f32
  %e{i} = reduce_axis %d{i} {{op = add, axes = [2]}} : f32
  %f{i} = reshape %e{i} {{shape = [{b}, {n}]}} : f32
  %g{i} = max %f{i}, %zero : f32
  %h{i} = mul %g{i}, %tenth : f32
  %x{next} = add %h{i}, %x{i} : f32
""".format(i=i, next=i + 1, b=batch, n=width)
        text += "buffer @y : f32[%d, %d] output\n" % (batch, width)
        with open(self.folder + "deep.uop", "w") as file:
            file.write(text + graph + "  sink %%x%d -> @y\n}\n" % layers)
        x = struct.pack("<%df" % (batch * width), *(i % 37 / 37 - 0.5 for i in range(batch * width)))
        data = self.archive(x=npy("<f4", [batch, width], x), t=npy("<f4", [batch, width], x))
        options = ["--loss=mse:y,t", "--init", "--optimizer=sgd:lr=0.1", "--epochs=3"]
        def weights(*others):
            printed = self.train(*options, *others, "-o", self.folder + "w.safetensors",
                                 model=self.folder + "deep.uop", data=data)
            return printed, {name: struct.unpack("<%df" % (width * width), bits)
                             for name, bits in tensors(self.folder + "w.safetensors").items()}
        _, expected = weights()
        self.assert_error(r"--memory-budget: a step needs at least (\d+) bytes with values computed "
                          r"again, (\d+) without", *options, "--memory-budget=1",
                          model=self.folder + "deep.uop", data=data)
        printed = self.train(*options, "--memory-budget=1", code=1, model=self.folder + "deep.uop",
                             data=data)
        least, whole = (int(n) for n in re.search(r"least (\d+) .* (\d+) without", printed).groups())
        self.assertLess(least, 0.6 * whole)
        for budget, segments in [(whole, 0), (0.75 * whole, 1), (least, 2)]:
            with self.subTest(budget):
                printed, found = weights("--memory-budget=%d" % budget)
                again = re.search(r"a step needs ([\d.]+) MB .*: (\d+) of \d+ segments", printed)
                self.assertEqual(again is not None, segments > 0, printed)
                if again:
                    self.assertLessEqual(float(again[1]), budget / 1e6 + 0.05)
                    self.assertGreaterEqual(int(again[2]), segments)
                for name, numbers in expected.items():
                    for a, b in zip(found[name], numbers):
                        self.assertAlmostEqual(a, b, delta=1e-5)

    def test_no_decay(self):
        # A rate of 0 for gradients: only what decays changes.
        output = self.folder + "w.safetensors"
        self.train("--optimizer=sgd:lr=1e-20:decay=1e19", "--no-decay=bias", "--no-decay=fc",
                   "-o", output)
        old, new = tensors(self.digits + "digits.safetensors"), tensors(output)
        self.assertEqual({name for name in old if old[name] != new[name]},
                         {"conv1.weight", "conv2.weight", "conv3.weight"})

    def test_gradients_are_those_of_a_step(self):
        # All samples are one batch, so that their order changes only rounding.
        data = self.archive(x=npy("<f4", [64, 1, 8, 8], self.pixels(64)),
                            labels=npy("|u1", [64], self.arrays["labels.npy"][-1437:-1437 + 64]))
        self.train("--gradients=" + self.folder + "g.safetensors", data=data)
        self.train("--optimizer=sgd:lr=1", "-o", self.folder + "new.safetensors", data=data)
        gradients, after = (tensors(self.folder + name) for name in ("g.safetensors", "new.safetensors"))
        before = tensors(self.digits + "digits.safetensors")
        self.assertEqual(set(gradients), set(after))
        for name, bits in gradients.items():
            g, old, new = (struct.unpack("<%df" % (len(bits) // 4), t) for t in
                           (bits, before[name], after[name]))
            self.assertGreater(max(map(abs, g)), 0)
            for dw, a, b in zip(g, old, new):
                self.assertAlmostEqual(dw, a - b, delta=1e-6 + 1e-6 * abs(a))
        self.assert_error("--gradients: a.onnx does not end with .safetensors", "--gradients=a.onnx",
                          code=2)

    def test_the_module_of_a_step(self):
        self.train("--optimizer=sgd:momentum=0.9", "--step=" + self.folder + "step.uop")
        result = subprocess.run([self.opt, self.folder + "step.uop", "--pass=kernelize"], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"buffer @fc.weight.momentum : .* state")
        self.assertRegex(result.stdout, r'buffer @fc.weight : .* state = file\("step.safetensors"')
        self.assertRegex(result.stdout, r"graph @train {")
        written, weights = tensors(self.folder + "step.safetensors"), tensors(
            self.digits + "digits.safetensors")
        self.assertEqual(written, weights)

    def test_a_loss_that_is_not_finite(self):
        wild = ["--optimizer=sgd:lr=1e30", "--epochs=3"]
        self.assert_error(r"the loss is -?(nan|inf) at step \d+ of epoch 1; --check-nan tells", *wild)
        self.assert_error(r"the loss is -?(nan|inf) at step \d+ of epoch 1; the first value that is "
                          r"not finite: \w+ .*at line \d+", *wild, "--check-nan")

    def test_data(self):
        x, labels = self.arrays["x.npy"], self.arrays["labels.npy"]
        ones = struct.pack("<f", 1.0) * 64
        for expected, arrays in [
                ("no array 'labels'; there are: x", {"x": x}),
                (r"'labels', f32\[1437\], has floats", {
                    "x": x, "labels": npy("<f4", [1437], struct.pack("<f", 1.0) * 1437)}),
                (r"'labels', u8\[3\], has 3 samples; another array has 1437",
                 {"x": x, "labels": npy("|u1", [3], b"\0\1\2")}),
                ("'x', .*: sample 1 has a number that is not finite",
                 {"x": npy("<f4", [2, 1, 8, 8], ones + ones[:-4] + struct.pack("<f", float("nan"))),
                  "labels": npy("|u1", [2], b"\0\1")}),
                ("'labels', .*: sample 1 has label 10, not one of 0 to 9",
                 {"x": npy("<f4", [2, 1, 8, 8], ones + ones), "labels": npy("|u1", [2], b"\0\x0a")}),
                ("'labels', .*: sample 0 has label -1, not one of 0 to 9",
                 {"x": npy("<f4", [1, 1, 8, 8], ones), "labels": npy("<i8", [1], b"\xff" * 8)}),
                (r"'x', f32\[1, 8, 8\], does not fit the input f32\[64, 1, 8, 8\]",
                 {"x": npy("<f4", [1, 8, 8], ones), "labels": npy("|u1", [1], b"\0")}),
                ("has no sample", {"x": npy("<f4", [0, 1, 8, 8], b""), "labels": npy("|u1", [0], b"")}),
        ]:
            with self.subTest(expected):
                self.assert_error(expected, data=self.archive(**arrays))
        self.assert_error("is compressed; write it by numpy.savez",
                          data=self.archive(compression=zipfile.ZIP_DEFLATED, x=x, labels=labels))

    def test_damaged_archives(self):
        path = self.archive(x=self.arrays["x.npy"], labels=self.arrays["labels.npy"])
        with open(path, "rb") as file:
            whole = file.read()
        for position in [0, 200, len(whole) - 150, len(whole) - 60, len(whole) - 12]:
            with self.subTest(position):
                with open(path, "wb") as file:
                    file.write(whole[:position] + bytes([whole[position] ^ 0xff]) + whole[position + 1:])
                self.assertIn(self.folder, self.train(code=1, data=path))
        for size in [0, 10, 1000, len(whole) - 30]:
            with open(path, "wb") as file:
                file.write(whole[:size])
            self.assert_error("no archive of arrays", data=path)

    def test_options(self):
        self.assert_error("the model has no output 'y'; its outputs: logits", "--loss=mse:y,labels")
        self.assert_error("write mse:OUTPUT,TARGET", "--loss=mse:y", code=2)
        self.assert_error("there is no loss 'hinge'", "--loss=hinge:a,b", code=2)
        self.assert_error("the model itself has 'x'", "--loss=cross_entropy:logits,x")
        self.assert_error("--optimizer: adamw has no option 'momentum'",
                          "--optimizer=adamw:momentum=1", code=2)
        self.assert_error("--patience needs --eval", "--patience=1", code=2)
        self.assert_error("need --checkpoint", "--resume", code=2)
        self.assert_error("none of .safetensors, .uop and .onnx", "-o", "a.bin", code=2)
        with open(self.model) as source:
            text = source.read().replace(' = file("digits.safetensors", "fc.bias")', "")
        os.symlink(self.digits + "digits.safetensors", self.folder + "digits.safetensors")
        with open(self.folder + "bare.uop", "w") as model:
            model.write(text)
        self.assert_error("weight 'fc.bias' has no contents in the model; --init",
                          model=self.folder + "bare.uop")


if __name__ == "__main__":
    unittest.main()
