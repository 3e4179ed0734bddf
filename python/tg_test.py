"""Python's package, as the wheel has it, against numpy and the interpreter: tg_test.py WHEEL_FOLDER DIGITS"""

import gc
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import wheel_testing

INSTALLED = wheel_testing.use(sys.argv[1])
DIGITS = sys.argv[2]

import numpy as np  # noqa: E402
import tg  # noqa: E402

SUM = """tg 1
module @sum
var @n : [1, 8]
buffer @x : f32[@n, 3] input
buffer @y : f32[3] output
graph @main {
  %x = buffer @x : f32
  %0 = reduce_axis %x {op = add, axes = [0]} : f32
  %1 = reshape %0 {shape = [3]} : f32
  sink %1 -> @y
}
"""
TWO = """tg 1
module @two
buffer @a : {type}[2, 3] input
buffer @b : {type}[2, 3] input
buffer @sum : {type}[2, 3] output
buffer @max : {type}[2, 3] output
graph @main {{
  %a = buffer @a : {type}
  %b = buffer @b : {type}
  %0 = add %a, %b : {type}
  %1 = max %a, %b : {type}
  sink %0 -> @sum, %1 -> @max
}}
"""


LARGE = """tg 1
module @large
buffer @a : f32[600, 1000] input
buffer @b : f32[600, 1000] input
buffer @y : f32[600, 1000] output
graph @main {
  %a = buffer @a : f32
  %b = buffer @b : f32
  %0 = add %a, %b : f32
  sink %0 -> @y
}
"""


def module(text, **options):
    return tg.load(text.encode(), **{"device": "cpu", **options})


class Foreign:
    """A tensor of another library: DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnDevice:
    """A tensor of a GPU, which has a copy on the host."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_options):
        raise AssertionError("the host cannot read it")

    def __dlpack_device__(self):
        return (2, 0)

    def cpu(self):
        return Foreign(self.array)


class CallTest(unittest.TestCase):
    def test_random_arrays_of_each_type(self):
        random = np.random.default_rng(1)
        for name, dtype in (("i8", np.int8), ("i16", np.int16), ("i32", np.int32), ("i64", np.int64),
                            ("u8", np.uint8), ("u16", np.uint16), ("u32", np.uint32), ("u64", np.uint64),
                            ("f16", np.float16), ("f32", np.float32), ("f64", np.float64)):
            with self.subTest(type=name):
                model = module(TWO.format(type=name))
                for _ in range(5):
                    a, b = (random.integers(0, 50, (2, 3)).astype(dtype) for _ in range(2))
                    result = model(a, b)
                    np.testing.assert_array_equal(result["sum"], a + b)
                    np.testing.assert_array_equal(result["max"], np.maximum(a, b))
                    self.assertEqual(result["sum"].dtype, dtype)

    def test_by_name_in_any_order_and_kept(self):
        model = module(TWO.format(type="f32"))
        a, b = np.ones((2, 3), np.float32), np.full((2, 3), 5, np.float32)
        np.testing.assert_array_equal(model(b=b, a=a)["sum"], a + b)
        np.testing.assert_array_equal(model(a, b=b)["sum"], a + b)
        np.testing.assert_array_equal(model(b)["sum"], b + b)  # b is kept
        with self.assertRaisesRegex(tg.Error, "twice"):
            model(a, a=a)
        with self.assertRaisesRegex(tg.NotFound, "no input 'c'; there are a, b"):
            model(c=a)
        with self.assertRaisesRegex(tg.InvalidArgument, "3 inputs"):
            model(a, a, a)

    def test_large_tensors(self):
        model, rows = module(LARGE), [np.full((600, 1000), i, np.float32) for i in range(6)]
        kept = []
        for a, b in zip(rows, rows[1:]):
            kept.append(model(a, b))
        # Results that somebody has are not written again, nor is what only a view refers to.
        views = [y[0, 1:3] for y in kept[3:]]
        del kept[3:]
        for i in range(4):
            np.testing.assert_array_equal(model(b=rows[i], a=rows[i]), 2 * rows[i])
        for i, y in enumerate(kept):
            np.testing.assert_array_equal(y, rows[i] + rows[i + 1])
        self.assertEqual([v.tolist() for v in views], [[7, 7], [9, 9]])
        # An input that is not given is the last one, for a call and for a run, and can be read.
        np.testing.assert_array_equal(model(rows[4]), rows[4] + rows[3])
        np.testing.assert_array_equal(model.get("y"), rows[4] + rows[3])
        np.testing.assert_array_equal(model.get("a"), rows[4])
        model.run()
        np.testing.assert_array_equal(model.get("y"), rows[4] + rows[3])
        model.set("b", rows[5])
        model.run()
        np.testing.assert_array_equal(model.get("y"), rows[4] + rows[5])
        np.testing.assert_array_equal(model(b=rows[1]), rows[4] + rows[1])
        np.testing.assert_array_equal(model(rows[2]), rows[2] + rows[1])

    def test_memory_of_results_is_used_again(self):
        model, a = module(LARGE), np.ones((600, 1000), np.float32)
        addresses = set()
        for _ in range(20):
            y = model(a, a)
            addresses.add(y.ctypes.data)
        self.assertEqual(len(addresses), 2)

    def test_open_sizes(self):
        random = np.random.default_rng(2)
        model = module(SUM)
        self.assertEqual(model.inputs[0].shape, (None, 3))
        self.assertEqual((model.inputs[0].min_shape, model.inputs[0].max_shape), ((1, 3), (8, 3)))
        self.assertEqual(model.variables, [tg.Variable("n", 1, 8)])
        for rows in (1, 8, 3, 5, 8, 2):
            x = random.integers(-9, 9, (rows, 3)).astype(np.float32)
            np.testing.assert_array_equal(model(x), x.sum(axis=0))
        with self.assertRaisesRegex(tg.InvalidArgument, r"f32\[9, 3\]"):
            model(np.zeros((9, 3), np.float32))

    def test_open_results_of_the_same_size(self):
        # A call with the shapes of the last one makes its results before; the others find out their sizes.
        model = module(SUM.replace("y : f32[3]", "y : f32[@n]").replace("axes = [0]", "axes = [1]")
                       .replace("  %1 = reshape %0 {shape = [3]}", "  %n = var @n : index\n  %1 = reshape %0 {shape = [%n]}"))
        inputs = [np.full((rows, 3), rows, np.float32) for rows in (2, 2, 2, 4, 4, 1, 4, 2, 2, 8, 8, 3)]
        results = [model(x) if number % 4 else model(x=x) for number, x in enumerate(inputs)]
        for x, result in zip(inputs, results):
            np.testing.assert_array_equal(result, x.sum(axis=1))

    def test_what_is_given(self):
        model = module(SUM)
        rows = np.arange(24, dtype=np.float32).reshape(8, 3)
        expected = rows[:4].sum(axis=0)
        for value in (rows[:4], rows[:4].tolist(), np.asfortranarray(rows[:4]), rows.astype(">f4")[:4],
                      Foreign(rows[:4]), OnDevice(rows[:4]), memoryview(np.ascontiguousarray(rows[:4]))):
            with self.subTest(value=type(value)):
                np.testing.assert_array_equal(model(value), expected)
        np.testing.assert_array_equal(model(rows[::2]), rows[::2].sum(axis=0))
        with self.assertRaisesRegex(tg.InvalidArgument, "float64, not float32; x.astype"):
            model(rows.astype(np.float64))
        with self.assertRaises(tg.InvalidArgument):
            model(np.zeros((2, 4), np.float32))

    def test_memory_is_not_copied_for_dlpack(self):
        from tg._arrays import as_array
        rows = np.ones((2, 3), np.float32)
        for value in (rows, Foreign(rows)):
            self.assertTrue(np.shares_memory(as_array(value, rows.dtype, "x"), rows))

    def test_results_are_separate(self):
        model = module(SUM)
        first = model(np.ones((2, 3), np.float32))
        second = model(np.zeros((2, 3), np.float32))
        self.assertEqual((first.tolist(), second.tolist()), ([2, 2, 2], [0, 0, 0]))

    def test_ten_threads(self):
        model, wrong = module(SUM), []

        def work(number):
            random = np.random.default_rng(number)
            for _ in range(50):
                x = random.integers(-9, 9, (random.integers(1, 9), 3)).astype(np.float32)
                if not np.array_equal(model(x), x.sum(axis=0)):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class NetworkTest(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(DIGITS, "digits.uop")
        self.x = np.load(os.path.join(DIGITS, "digit.npy")).reshape(1, 1, 8, 8)

    def test_recognises_digits(self):
        images = np.load(os.path.join(DIGITS, "heldout_images.npy"))
        logits = np.load(os.path.join(DIGITS, "heldout_logits.npy"))
        model = tg.load(os.path.join(DIGITS, "digits_heldout.uop"), device="cpu")
        np.testing.assert_allclose(model(images.reshape(model.inputs[0].max_shape)), logits, atol=1e-4)

    def test_compiled(self):
        y = tg.load(self.path, device="cpu")(self.x)
        compiled = tg.compile(self.path, device="cpu")
        self.assertGreater(compiled.nbytes, 100000)
        np.testing.assert_array_equal(compiled.load()(self.x), y)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "digits.tgx")
            compiled.save(path)
            model = tg.load(path)
            with open(path, "rb") as file:
                from_bytes = tg.load(file.read())
            np.testing.assert_array_equal(model(self.x), y)
            np.testing.assert_array_equal(from_bytes(self.x), y)

    def test_bytes_find_the_files_of_their_folder(self):
        with open(self.path, "rb") as file:
            text = file.read()
        model = tg.load(text, path=self.path, device="cpu")
        np.testing.assert_allclose(model(self.x), tg.load(self.path, device="reference")(self.x), atol=1e-4)

    def test_profile(self):
        model = tg.load(self.path, device="cpu")
        kernels = model.kernels()
        self.assertTrue(kernels)
        self.assertTrue(all(kernel.seconds is None and kernel.source for kernel in kernels))
        with self.assertRaisesRegex(tg.FailedPrecondition, "profile"):
            model.report()
        profile = model.profile(self.x, runs=3)
        self.assertEqual([kernel.name for kernel in profile.kernels], [kernel.name for kernel in kernels])
        self.assertTrue(all(kernel.seconds > 0 for kernel in profile.kernels))
        self.assertIn(kernels[0].name, str(profile))
        self.assertIn('"tg_report"', profile.json)
        self.assertIn("<html", profile.html)
        self.assertEqual(profile._repr_html_().count("<tr>"), 1 + len(kernels))

    def test_float16(self):
        exact = tg.load(self.path, device="cpu")(self.x)
        half = tg.load(self.path, device="cpu", float16=True)(self.x)
        self.assertFalse(np.array_equal(half, exact))
        np.testing.assert_allclose(half, exact, atol=0.1)


class OnnxTest(unittest.TestCase):
    PATH = "testdata/onnx/mlp.onnx"

    @staticmethod
    def expected(x):
        """What testdata/onnx/README.md says that the network computes."""
        w1, b1, w2, b2 = (np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)
                          for shape in ((64, 96), (96,), (96, 10), (10,)))
        logits = np.maximum(x @ w1 + b1, 0) @ w2 + b2
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def check(self, model, rows):
        for n in rows:
            x = np.random.default_rng(n).random((n, 64), np.float32)
            np.testing.assert_allclose(model(x), self.expected(x), rtol=1e-4, atol=1e-6)

    def test_from_file_and_from_memory(self):
        self.check(tg.load(self.PATH, device="cpu"), (1, 5, 7, 5, 100))
        with open(self.PATH, "rb") as file:
            data = file.read()

        class Proto:
            def SerializeToString(self):
                return data

        # Its weights are read when it first runs, from the bytes that were given.
        models = [tg.load(source, device="cpu") for source in (data, bytearray(data), Proto())]
        models.append(tg.load(data, device="cpu", path="folder/that/is/not/there.onnx"))
        for model in models:
            self.check(model, (3, 4))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mlp.tgx")
            tg.compile(data, device="cpu").save(path)
            self.check(tg.load(path), (2, 9))

    def test_sizes(self):
        self.assertEqual(tg.load(self.PATH, device="cpu").inputs[0].max_shape, (1024, 64))
        self.assertEqual(tg.load(self.PATH, device="cpu", max_sizes={"n": 7}).inputs[0].max_shape, (7, 64))
        for options in ({"sizes": {"n": 3}}, {"inputs": {"x": (3, 64)}},
                        {"inputs": {"x": np.zeros((3, 64), np.float32)}}):
            model = tg.load(self.PATH, device="cpu", **options)
            self.assertEqual(model.inputs[0].shape, (3, 64))
            self.check(model, (3,))
        with self.assertRaisesRegex(tg.InvalidArgument, "^size height: "):
            tg.load(self.PATH, sizes={"height": 3})


class ErrorsTest(unittest.TestCase):
    def test_carets(self):
        with self.assertRaises(tg.InvalidArgument) as caught:
            tg.opt(SUM.replace("reshape %0", "reshap %0"), path="sum.uop")
        message = str(caught.exception)
        self.assertRegex(message, r"^sum\.uop:9:8: error: unknown op 'reshap'; did you mean 'reshape'\?\n")
        self.assertRegex(message, r"\n  %1 = reshap %0.*\n +\^")
        self.assertIsInstance(caught.exception, ValueError)

    def test_files_and_devices(self):
        with self.assertRaisesRegex(LookupError, "no/such.onnx"):
            tg.load("no/such.onnx")
        with self.assertRaisesRegex(tg.NotFound, "abacus"):
            module(SUM, device="abacus")

    def test_order(self):
        model = module(SUM)
        with self.assertRaisesRegex(tg.FailedPrecondition, "input @x"):
            model()
        model.close()
        model.close()
        with self.assertRaises(tg.Closed):
            model(np.ones((1, 3), np.float32))
        with module(SUM) as other:
            pass
        with self.assertRaises(tg.Closed):
            other.kernels()

    def test_progress(self):
        steps = []
        module(SUM, progress=lambda step, done: steps.append((step, done)))
        self.assertEqual(steps[0], ("read", 0))
        self.assertEqual(steps[-1], ("open", 1))
        self.assertGreater(len(steps), 5)
        with self.assertRaises(tg.Cancelled):
            module(SUM, progress=lambda step, done: False)

        def fail(step, done):
            raise KeyError(step)

        with self.assertRaises(KeyError):
            module(SUM, progress=fail)

    def test_models_are_given_up(self):
        for _ in range(50):
            module(SUM, device="reference")
        gc.collect()
        descriptors = os.listdir("/proc/self/fd")
        self.assertLess(len(descriptors), 40)


class PackageTest(unittest.TestCase):
    def test_opt(self):
        self.assertEqual(tg.opt(SUM, ""), tg.opt(tg.opt(SUM, ""), ""))
        self.assertIn("kernel @", tg.opt(SUM, "kernelize"))
        self.assertIn("__kernel", tg.opt(SUM, emit="opencl", target="cl-gpu"))
        self.assertRegex(tg.opt(SUM, emit="c"), r"\bvoid\b")

    def test_import_is_quick_and_opens_no_device(self):
        # Without the time in which other programs have the processor, where the system counts that.
        code = """
import numpy, os, time
def now():
    path = '/proc/thread-self/schedstat'
    return time.perf_counter() - (int(open(path).read().split()[1]) * 1e-9 if os.path.exists(path) else 0)
start = now()
import tg
print(now() - start)
maps = open('/proc/self/maps').read()
assert 'libtg.so' in maps and 'OpenCL' not in maps and 'codegen' not in maps
"""
        environment = {**os.environ, "PYTHONPATH": INSTALLED}
        seconds = min(float(subprocess.run([sys.executable, "-c", code], env=environment, check=True,
                                           stdout=subprocess.PIPE).stdout) for _ in range(5))
        self.assertLess(seconds, 0.2)

    def test_wheel(self):
        name = os.path.basename(wheel_testing.wheel_of(sys.argv[1]))
        self.assertRegex(name, r"^tg-%s-py3-none-manylinux_2_\d+_\w+\.whl$" % re.escape(tg.__version__))
        (info,) = [f for f in os.listdir(INSTALLED) if f.endswith(".dist-info")]
        with open(os.path.join(INSTALLED, info, "WHEEL")) as wheel:
            self.assertIn("Tag: " + name[:-4].split("-", 2)[2], wheel.read())
        with open(os.path.join(INSTALLED, info, "NOTICES")) as notices:
            self.assertIn("LLVM", notices.read())

    def test_all_is_documented_and_typed(self):
        for name in tg.__all__:
            self.assertTrue(getattr(tg, name).__doc__, name)
        for function in (tg.load, tg.compile, tg.opt, tg.devices, tg.set_threads, tg.from_tinygrad):
            self.assertIn("return", function.__annotations__)
        self.assertTrue(os.path.exists(os.path.join(INSTALLED, "tg", "py.typed")))

    def test_threads(self):
        code = "import tg; tg.set_threads(1); print(tg.devices())\ntry: tg.set_threads(2)\nexcept tg.Error: print('late')"
        environment = {**os.environ, "PYTHONPATH": INSTALLED}
        out = subprocess.run([sys.executable, "-c", code], env=environment, check=True, stdout=subprocess.PIPE,
                             text=True).stdout
        self.assertTrue(out.endswith("late\n"), out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
