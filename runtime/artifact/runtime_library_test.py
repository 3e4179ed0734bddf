"""What a program with the runtime library alone holds, how large it is, and that it runs a file."""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SMALL_PROGRAM, ON_THREADS, LAUNCH_TIMES, COMPILER, MODEL = sys.argv[1:7]
# Scalar arithmetic, by which sizes are computed, is in the interpreter's namespace.
SCALAR = ("EvalAlu", "Threefry2x32", "IsAlu", "MulAddToOdd", "IntLane", "FloatLane", "Lane")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)


class RuntimeLibraryTest(unittest.TestCase):
    def test_symbols(self):
        symbols = run("nm", "-C", "--defined-only", PROGRAM).stdout.splitlines()
        # A build that strips binaries has nothing to look at.
        if not symbols:
            self.skipTest("the program is stripped")
        self.assertTrue(any("tg::artifact::OpenArtifact" in s for s in symbols))
        forbidden = ("llvm::", "tg::passes::", "tg::kernelize::", "tg::schedule::", "tg::lower::", "tg::onnx::",
                     "tg::ParseModule", "tg::Context::", "tg::opencl::", "tg::llvm_ir::", "tg::interpret::")
        # A header defines this type whole, so that a parameter of it links nothing.
        names = [s.replace("llvm::function_ref", "") for s in symbols]
        found = [s for s in names
                 if any(f in s for f in forbidden) and not any("interpret::" in s and n in s for n in SCALAR)]
        self.assertEqual(found, [])

    def test_size(self):
        # As --config=small builds it: what is shipped.
        size = os.path.getsize(SMALL_PROGRAM)
        print("stripped: %d bytes" % size)
        self.assertEqual(run("nm", SMALL_PROGRAM).stdout, "")
        self.assertLess(size, 500000)

    def test_runs_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "digits.tgx")
            compiled = run(COMPILER, MODEL, "--device=native", "-o", file)
            self.assertEqual((compiled.returncode, compiled.stderr), (0, ""))
            for program in (PROGRAM, SMALL_PROGRAM):
                # No code generator is asked for, and no cache.
                result = subprocess.run([program, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        universal_newlines=True, env={"TG_CODEGEN": "/nowhere"})
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("logits f32[1, 10]", result.stdout)
            result = run(ON_THREADS, file, "10", "5")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(result.stdout, "10 threads, 5 runs each: 0 failed, 0 wrong\n")
            result = run(LAUNCH_TIMES, file, "100")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, r"^.*: [1-9]\d* kernels, [0-9.]+ us each\n84 runs: .* kB at the end\n$")

    def test_says_what_is_wrong(self):
        for file, message in [("/nowhere.tgx", "/nowhere.tgx: No such file"), (MODEL, "it is no .tgx file")]:
            for program in (PROGRAM, SMALL_PROGRAM):
                result = run(program, file)
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
