"""tg-bench on PoCL: the values of all small rows, the form of its JSON, its errors, and peers that are wrong."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

# A peer that copies the first operand to the result, right for no row but a transpose of one number.
FAKE_PEER = '''
import json, shutil, sys
say = lambda value: print(json.dumps(value), flush=True)
say({"peers": [{"name": "fake", "version": "1"}]})
for line in sys.stdin:
    request = json.loads(line)
    if "open" in request:
        source = request["folder"] + "/a.npy"
        target = request["folder"] + "/fake.npy"
        shutil.copy(source, target)
        say({"results": {"fake": target if "%s" else ""}})
    else:
        say({"seconds": 1.5})
'''


class BenchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = os.path.abspath(sys.argv[1])
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))

    def run_bench(self, *options, code=0):
        run = subprocess.run([self.bench, *options], capture_output=True, text=True)
        self.assertEqual(run.returncode, code, run.stderr)
        return run.stdout, run.stderr

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def names(self, *options):
        return [line.split()[0] for line in self.run_bench("--list", *options)[0].splitlines()]

    def test_small_rows_have_right_values(self):
        _, told = self.run_bench("--small", "--check-only", "--device=cpu")
        for name in self.names("--small"):
            self.assertIn(name + ": the values are right\n", told)

    def test_a_measured_row_and_its_json(self):
        path = self.path("rows.json")
        table, _ = self.run_bench("--filter=^matmul-256$", "--device=cpu", "--min-time=0", "--json=" + path)
        self.assertIn("GFLOP/s", table)
        self.assertIn("matmul 256", table)
        with open(path) as file:
            report = json.load(file)
        self.assertEqual(report["tool"], "tg-bench")
        for limit in ("copy_bytes_per_second", "read_bytes_per_second", "flops_per_second"):
            self.assertGreater(report["limits"][limit], 0)
        (row,) = report["rows"]
        self.assertEqual((row["name"], row["operations"]), ("matmul-256", 2 * 256**3))
        self.assertEqual((row["bytes_read"], row["bytes_written"]), (2 * 4 * 256**2, 4 * 256**2))
        self.assertGreaterEqual(row["tg"]["turns"], 10)
        self.assertGreater(row["tg"]["seconds"], 0)
        self.assertLessEqual(row["tg"]["least"], row["tg"]["seconds"])
        self.assertEqual(row["peers"], {})

    def test_a_peer_with_wrong_values_is_refused(self):
        script = self.path("wrong.py", FAKE_PEER % "yes")
        _, told = self.run_bench("--small", "--filter=^transpose", "--check-only", "--device=reference",
                                 "--peers=" + script, "--python=" + sys.executable, code=1)
        self.assertIn("error: peer fake: transpose-35x67: the result is f32[35, 67], not f32[67, 35]", told)

    def test_a_peer_that_ends_is_an_error(self):
        script = self.path("ends.py", 'print(\'{"peers": [{"name": "fake", "version": "1"}]}\')')
        _, told = self.run_bench("--small", "--filter=^transpose", "--check-only", "--device=reference",
                                 "--peers=" + script, "--python=" + sys.executable, code=1)
        self.assertIn("tg-bench: the process of the peers has ended", told)
        script = self.path("none.py", "print('{}')")
        _, told = self.run_bench("--check-only", "--device=reference", "--peers=" + script,
                                 "--python=" + sys.executable, code=1)
        self.assertIn("has no peer", told)

    def test_errors_of_the_command_line(self):
        for options, message in [
                (["--filter=nothing"], "--filter: no row matches 'nothing'"),
                (["--filter=("], "--filter: "),
                (["--min-time=soon"], "--min-time: 'soon' is not a number that is at least 0"),
                (["--batch=0"], "--batch: 0 is not at least 1"),
                (["row"], "no argument is expected, but there is 'row'")]:
            _, told = self.run_bench(*options, code=2)
            self.assertIn("tg-bench: " + message, told)
        _, told = self.run_bench("--device=reference", code=1)
        self.assertIn("the interpreter is not timed", told)
        _, told = self.run_bench("--device=no-such-device", code=1)
        self.assertIn("no-such-device", told)

    def test_modules_are_written(self):
        folder = self.path("modules")
        self.run_bench("--small", "--write-modules=" + folder)
        self.assertEqual(sorted(os.listdir(folder)), sorted(name + ".uop" for name in self.names("--small")))
        with open(os.path.join(folder, "matmul-48.uop")) as file:
            self.assertIn("buffer @b : f32[48, 48] input\n", file.read())


if __name__ == "__main__":
    unittest.main()
