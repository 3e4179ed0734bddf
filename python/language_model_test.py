"""Language models of Python's package, as the wheel has it: language_model_test.py WHEEL_FOLDER"""

import sys
import unittest

import wheel_testing

wheel_testing.use(sys.argv[1])

import numpy as np  # noqa: E402
import tg  # noqa: E402


class LanguageModelTest(unittest.TestCase):
    PATH = "testdata/gguf/chat.gguf"
    HELLO = [{"role": "user", "content": "Hello"}]

    @classmethod
    def setUpClass(cls):
        cls.model = tg.LanguageModel(cls.PATH, device="cpu", cache_type="f32")

    def test_tokens(self):
        for text in ("Hello, world", "", "a\u00e4\u20ac\U0001f600"):
            self.assertEqual(self.model.detokenize(self.model.tokenize(text)), text)
        with self.assertRaisesRegex(tg.InvalidArgument, "vocabulary"):
            self.model.detokenize([-1])

    def test_pieces_make_the_reply(self):
        stream = self.model.generate(self.HELLO, max_tokens=12)
        pieces = list(stream)
        self.assertEqual("".join(pieces), stream.reply.text)
        self.assertEqual((stream.reply.end, stream.reply.tokens), ("max_tokens", 12))
        self.assertGreater(len(pieces), 1)
        again = self.model.generate(self.HELLO, max_tokens=12)
        self.assertEqual(list(again), pieces)
        self.assertGreater(again.reply.reused_tokens, 0)

    def test_logits_choose_the_reply(self):
        prompt, tokens = "Once upon", []
        text = self.model.tokenize(prompt, special=True)
        self.model.truncate(0)
        logits = self.model.append(text)
        for _ in range(5):
            tokens.append(int(logits.argmax()))
            logits = self.model.append(tokens[-1:])
        self.assertEqual("".join(self.model.generate(prompt, max_tokens=5)), self.model.detokenize(tokens))

    def test_a_loop_that_is_left_ends_the_reply(self):
        # The model says little until its context is full, and may be done before the loop is left.
        for _ in range(20):
            stream = self.model.generate(self.HELLO)
            next(stream)
            stream.close()
            if stream.reply.end != "context":
                break
        self.assertEqual(stream.reply.end, "cancelled")
        self.assertEqual(list(stream), [])
        self.assertEqual(list(self.model.generate(self.HELLO, max_tokens=2)),
                         list(self.model.generate(self.HELLO, max_tokens=2)))

    def test_sampling(self):
        def said(seed):
            return "".join(self.model.generate(self.HELLO, max_tokens=20, temperature=2, top_k=0, top_p=1, min_p=0,
                                               seed=seed))
        self.assertEqual(said(1), said(1))
        self.assertNotEqual(said(1), said(2))

    def test_embeddings(self):
        with tg.LanguageModel(self.PATH, device="cpu", chunk=64, cache_type="f32", embeddings=True) as model:
            texts = ["Hello, world", "a", "Once upon a time there was a cat. " * 6]
            rows = model.embed(texts)
            self.assertEqual(rows.shape, (3, model.info["embedding_width"]))
            np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
            for text, row in zip(texts, rows):
                np.testing.assert_array_equal(model.embed(text), row)
                np.testing.assert_array_equal(model.embed(text, pooling="mean"), row)  # the file does not say
                raw = model.embed(text, normalize=False)
                np.testing.assert_allclose(raw / np.linalg.norm(raw), row, rtol=1e-5, atol=1e-7)
            self.assertGreater(abs(model.embed(texts[0], pooling="last") - rows[0]).max(), 0.01)
            # The model reads from the left: the first state knows nothing of what follows.
            first = [model.embed(text, pooling="first") for text in ("Hello, world", "Hello, word")]
            np.testing.assert_allclose(first[0], first[1], atol=1e-6)
            with self.assertRaisesRegex(tg.InvalidArgument, "no pooling 'max'"):
                model.embed("a", pooling="max")
            with self.assertRaisesRegex(tg.FailedPrecondition, "for embeddings"):
                list(model.generate("a"))
            with self.assertRaisesRegex(tg.FailedPrecondition, "for embeddings"):
                model.append([1])
        with self.assertRaisesRegex(tg.FailedPrecondition, "not opened for embeddings"):
            self.model.embed("a")

    def test_errors(self):
        with self.assertRaises(LookupError):
            tg.LanguageModel("no/such.gguf")
        with self.assertRaisesRegex(tg.InvalidArgument, "f8"):
            tg.LanguageModel(self.PATH, cache_type="f8")
        with self.assertRaisesRegex(tg.InvalidArgument, "temperature"):
            list(self.model.generate("x", temperature=-1))
        with self.assertRaises(tg.ResourceExhausted):
            list(self.model.generate("x" * 100000))
        with tg.LanguageModel(self.PATH, device="cpu") as closed:
            pass
        with self.assertRaises(tg.Closed):
            closed.tokenize("x")
        with self.assertRaises(tg.Cancelled):
            tg.LanguageModel(self.PATH, device="cpu", progress=lambda step, done: False)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
