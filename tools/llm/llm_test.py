"""tg-llm on a small model: prompts, chats, limits, and bad input.

    llm_test.py TG_LLM MODEL.gguf MAKE_MODEL TG_COMPILE
"""

import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

TG_LLM, MODEL, _, TG_COMPILE = [os.path.abspath(path) for path in sys.argv[1:5]]


def run(*arguments, stdin="", model=MODEL):
    return subprocess.run([TG_LLM, model, *arguments], input=stdin.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


class Text(unittest.TestCase):
    def said(self, *arguments, stdin=""):
        result = run(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        result.stdout.decode()  # valid UTF-8
        return result

    def test_a_prompt_is_answered_the_same_way_each_time(self):
        first = self.said("-p", "Hello", "-n", "12")
        self.assertEqual(first.stdout, self.said("-p", "Hello", "-n", "12").stdout)
        self.assertRegex(first.stderr.decode(), r"load .*, first token .*; prompt of \d+ tokens at .* "
                         r"tokens/s; reply of 12 tokens at .* tokens/s, .* GB/s of weights")

    def test_the_length_of_a_reply(self):
        self.assertEqual(self.said("-p", "x", "-n", "0").stdout, b"\n")
        self.assertGreater(len(self.said("-p", "x", "-n", "9", "--raw").stdout),
                           len(self.said("-p", "x", "-n", "2", "--raw").stdout))

    def test_a_prompt_from_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("Hello")
            file.flush()
            self.assertEqual(self.said("-f", file.name, "-n", "5").stdout,
                             self.said("-p", "Hello", "-n", "5").stdout)

    def test_chunks_change_nothing(self):
        text = "The quick brown fox jumps over the lazy dog. " * 2
        self.assertEqual(self.said("-p", text, "-n", "8", "--cache-type=f32").stdout,
                         self.said("-p", text, "-n", "8", "--cache-type=f32", "--chunk=16").stdout)

    def test_sampling_depends_on_the_seed(self):
        options = ["-p", "Hello", "-n", "20", "--temp=2", "--top-k=0", "--top-p=1", "--min-p=0"]
        one = self.said(*options, "--seed=1").stdout
        self.assertEqual(one, self.said(*options, "--seed=1").stdout)
        self.assertNotEqual(one, self.said(*options, "--seed=2").stdout)

    def test_a_reply_ends_at_a_stop(self):
        reply = self.said("-p", "Hello", "-n", "20").stdout.decode().rstrip("\n")
        stop = re.search(r"[!-~]{2}", reply)[0]
        self.assertEqual(self.said("-p", "Hello", "-n", "20", "--stop", stop).stdout.decode(),
                         reply[:reply.index(stop)] + "\n")

    def test_lines_are_turns_of_a_chat(self):
        # The second turn computes what is new alone.
        both = self.said("-n", "4", "--verbose", stdin="Hello\nAgain\n")
        self.assertEqual(len(both.stdout.splitlines()), 2)
        first, second = re.findall(r"prompt of (.*?) tokens at", both.stderr.decode())
        new, old = re.fullmatch(r"(\d+) tokens behind (\d+)", second).groups()
        self.assertGreaterEqual(int(old), int(first))
        self.assertLess(int(new), 60)

    def test_a_full_context_ends_a_reply(self):
        result = self.said("-p", "Hello", "--raw", "--ctx=20")
        self.assertIn(b"the context of 20 tokens is full", result.stderr)

    def test_a_full_context_ends_a_chat(self):
        result = self.said("--ctx=40", "-n", "4", stdin="Hello\nAgain\nAgain\n")
        self.assertIn(b"context", result.stderr)

    def test_kernels_are_told(self):
        self.assertIn(b"kernels, ", self.said("-p", "Hello", "-n", "3", "--verbose").stderr)

    def test_bench(self):
        self.assertRegex(self.said("--bench").stdout.decode(),
                         r"^pp\d+  [\d.]+ ± [\d.]+ tokens/s\ntg128  [\d.]+ ± [\d.]+ tokens/s\n$")


class Compiled(unittest.TestCase):
    """A model compiled ahead answers as its GGUF file does."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "model.tgx")
        cls.compile(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def compile(path, *options):
        subprocess.run([TG_COMPILE, MODEL, "--device=native", *options, "-o", path], check=True)

    def both(self, *arguments, stdin="", path=None, options=()):
        results = [run(*arguments, "--device=native", *options, stdin=stdin),
                   run(*arguments, "--device=native", stdin=stdin, model=path or self.path)]
        for result in results:
            self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(results[0].stdout, results[1].stdout)
        return results[1]

    def test_prompts(self):
        self.assertGreater(len(self.both("-p", "Hello", "-n", "30").stdout), 20)
        self.both("-p", "The quick brown fox jumps over the lazy dog. " * 3, "-n", "20")
        self.both("-p", "Hello", "--raw", "-n", "20", "--temp=1", "--seed=7")

    def test_a_chat(self):
        self.assertEqual(len(self.both("-n", "4", stdin="Hello\nAgain\n").stdout.splitlines()), 2)

    def test_options_of_the_compile(self):
        path = os.path.join(self.folder.name, "small.tgx")
        options = ("--ctx=48", "--chunk=16", "--cache-type=f32", "--products=f16")
        self.compile(path, *options)
        result = self.both("-p", "Hello", "-n", "60", path=path, options=options)
        self.assertIn(b"the context of 48 tokens is full", result.stderr)

    def test_it_is_found_out_what_no_text_model_is(self):
        for arguments, message in [
                (["--ctx=10"], "--ctx needs the model; " + self.path + " is compiled"),
                (["--cache-type=f32"], "--cache-type needs the model"),
                (["--products=f16"], "--products needs the model"),
                (["--device=pocl"], "is compiled for the native CPU device")]:
            result = run("-p", "x", *arguments, model=self.path)
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr.decode())
        # Torn anywhere, it is an error of one line.
        with open(self.path, "rb") as file:
            data = file.read()
        torn = os.path.join(self.folder.name, "torn.tgx")
        for i in range(1, 12):
            with open(torn, "wb") as file:
                file.write(data[:len(data) * i // 12])
            result = run("-p", "x", model=torn)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)


class Errors(unittest.TestCase):
    def refuses(self, message, *arguments, code=1, model=MODEL):
        result = run(*arguments, model=model)
        error = result.stderr.decode()
        self.assertEqual(result.returncode, code, error)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(error.startswith("tg-llm: ") and error.count("\n") == 1, error)
        self.assertIn(message, error)

    def test_options(self):
        self.refuses("-p or -f", "-p", "x", "-f", "y", code=2)
        self.refuses("--temp is a number", "-p", "x", "--temp=hot", code=2)
        self.refuses("--top-p is a number", "-p", "x", "--top-p=1.5", code=2)
        self.refuses("-n is at least 0", "-p", "x", "-n", "-1", code=2)
        self.refuses("--ctx is at least 1", "-p", "x", "--ctx=0", code=2)
        self.refuses("--raw needs", "--raw", code=2)
        self.refuses("takes no prompt", "--bench", "-p", "x", code=2)

    def test_prompts(self):
        self.refuses("missing.txt", "-f", "missing.txt")
        self.refuses("the context holds 8", "-p", "a long prompt", "--ctx=8")
        self.refuses("is for texts of 256 tokens", "-p", "x", "--ctx=1000")
        self.refuses("no token", "-p", "", "--raw")

    def bad(self, message, change):
        with open(MODEL, "rb") as file:
            data = change(bytearray(file.read()))
        with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
            file.write(data)
            file.flush()
            self.refuses(message, "-p", "x", model=file.name)

    def test_models(self):
        def replaced(old, new):
            return lambda data: bytes(data).replace(old, new, 1)

        def u32(key, value):
            def change(data):
                at = data.index(key.encode()) + len(key)
                data[at + 4:at + 8] = struct.pack("<I", value)
                return data
            return change
        self.refuses("missing.gguf", "-p", "x", model="missing.gguf")
        self.refuses("no GGUF file", "-p", "x", model=__file__)
        self.bad("the architecture 'llaxa' is not read; tg reads llama", replaced(b"llama", b"llaxa"))
        self.bad("lacks the keys 'llama.block_count'", replaced(b"llama.block_count", b"llama.block_cxxxx"))
        self.bad("'llama.block_count' is 0", u32("llama.block_count", 0))
        self.bad("'blk.2.attn_norm.weight'", u32("llama.block_count", 3))
        self.bad("no use for the tensors 'blk.1.", u32("llama.block_count", 1))
        self.bad("'llama.attention.head_count' is 0", u32("llama.attention.head_count", 0))
        self.bad("are no multiple of", u32("llama.attention.head_count_kv", 3))
        self.bad("tensor 'token_embd.weight' is", u32("llama.embedding_length", 64))
        self.bad("is not even", u32("llama.rope.dimension_count", 7))
        self.bad("lacks the tensors 'output_norm.weight'", replaced(b"output_norm.weight", b"output_norx.weight"))
        self.bad("the file has only", lambda data: data[:100])
        self.bad("beyond the file's", lambda data: data[:-4000])
        self.bad("GGUF version 9", lambda data: data[:4] + b"\x09" + data[5:])
        self.bad("tokenizer.ggml.model", replaced(b"\x04\x00\x00\x00\x00\x00\x00\x00gpt2", b"\x04\x00\x00\x00\x00\x00\x00\x00gptx"))
        self.bad("tokenizer.ggml.eos_token_id", u32("tokenizer.ggml.eos_token_id", 100000))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
