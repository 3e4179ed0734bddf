"""Cases of ONNX's operators through tg-run: on the interpreter all, on a device some."""

import pathlib
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import backend_suite  # noqa: E402

TG_RUN, CASES = sys.argv[1:3]
DEVICE_STEP = 12  # one case in twelve runs on a device, whose compiler takes most of the time


class BackendSuite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with zipfile.ZipFile(CASES) as cases:
            cases.extractall(cls.folder.name)
        cls.cases = sorted(p.parent for p in pathlib.Path(cls.folder.name).glob("*/model.onnx"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_all(self, cases, extra):
        for case in cases:
            with self.subTest(case.name):
                _, _, result, reason = backend_suite.run_case(case, TG_RUN, extra, 120)
                self.assertEqual(result, "passed", reason)

    def test_interpreter(self):
        self.assertGreater(len(self.cases), 250)
        self.run_all(self.cases, ["--device=reference"])

    def test_device(self):
        self.run_all(self.cases[::DEVICE_STEP], [])

    def test_a_wrong_value_is_found(self):
        case = pathlib.Path(self.folder.name) / "test_relu"
        output = case / "test_data_set_0" / "output_0.pb"
        right = output.read_bytes()
        try:
            output.write_bytes(right[:-4] + b"\x00\x00\x80\x3f")  # the last element becomes 1
            _, _, result, reason = backend_suite.run_case(case, TG_RUN, ["--device=reference"], 120)
        finally:
            output.write_bytes(right)
        self.assertEqual(result, "failed")
        self.assertIn("against the test data", reason)

    def test_a_torn_model_is_an_error(self):
        case = pathlib.Path(self.folder.name) / "test_relu"
        model = case / "model.onnx"
        whole = model.read_bytes()
        try:
            for size in range(5, len(whole), 7):
                model.write_bytes(whole[:size])
                _, _, result, reason = backend_suite.run_case(case, TG_RUN, ["--device=reference"], 120)
                self.assertEqual(result, "failed", size)
                self.assertIn("not an ONNX model", reason)
        finally:
            model.write_bytes(whole)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
