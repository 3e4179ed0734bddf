"""Language models: opened, tokenized, continued."""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence, Union

import numpy as np

from tg import _library
from tg._arrays import address_of
from tg._library import Closing, InvalidArgument, check, encode, library, new, take_text
from tg._model import Progress, _Callback

_ENDS = ("model", "stop", "max_tokens", "context", "cancelled")
_POOLINGS = ("", "mean", "first", "last")
Prompt = Union[str, Sequence[Mapping[str, str]]]


@dataclass(frozen=True)
class Reply:
    """What was generated, and what it took."""

    text: str
    end: str  # "model": the model has ended it; "stop", "max_tokens", "context", "cancelled"
    prompt_tokens: int  # that were computed
    reused_tokens: int  # that were known from the text before
    tokens: int  # of the reply
    prompt_seconds: float
    decode_seconds: float


class Stream(Iterator[str]):
    """The pieces of a reply as they are generated; `reply` is set at its end.

    Leaving the loop, or close(), ends the reply.
    """

    def __init__(self, model: "LanguageModel", prompt: Prompt, options: Mapping[str, Any]):
        self.reply: Reply | None = None
        self._model = model
        self._pieces: queue.Queue[str | None] = queue.Queue()
        self._error: BaseException | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, args=(prompt, options), daemon=True)
        self._thread.start()

    def _work(self, prompt: Prompt, options: Mapping[str, Any]) -> None:
        def show(piece: str) -> bool:
            self._pieces.put(piece)
            return not self._is_closed

        try:
            self.reply = self._model._generate(prompt, show, **options)
        except BaseException as error:  # raised where the pieces are read
            self._error = error
        self._pieces.put(None)

    def __next__(self) -> str:
        piece = None if self._is_closed else self._pieces.get()
        if piece is not None:
            return piece
        self._is_closed = True
        self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
        raise StopIteration

    def close(self) -> None:
        """Ends the reply and waits for its end."""
        self._is_closed = True
        self._thread.join()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self._is_closed = True


class LanguageModel(Closing):
    """A text model of a GGUF file, with the text so far.

        model = tg.LanguageModel("model.gguf")
        for piece in model.generate("Why is the sky blue?"):
            print(piece, end="", flush=True)

    device: "cpu", "gpu", "gpu:1", or a part of a device's name; by default a GPU if there is one.
    context: the most tokens of a text; 0: as the file says.
    chunk: how many tokens of a prompt are computed at a time; 0: as fits the device.
    cache_type: "f16" or "f32", the type of stored keys and values.
    embeddings: the model is for embed(), and not for texts.
    progress: as for tg.load.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], *, device: str = "", context: int = 0, chunk: int = 0,
                 cache_type: str = "f16", embeddings: bool = False, progress: Progress = None):
        self._handle = 0
        if cache_type not in ("f16", "f32"):
            raise InvalidArgument("there is no cache of '%s'; there are f16, f32" % cache_type)
        options = new(_library.LmOptions)
        options.device, options.context, options.chunk = encode(device), context, chunk
        options.cache_f32, options.embeddings = int(cache_type == "f32"), int(embeddings)
        callback = _Callback(progress)
        if callback.function is not None:
            options.progress = callback.function
        handle = ctypes.c_uint64()
        callback.check(library.tg_lm_open(os.fsencode(path), options, ctypes.byref(handle)))
        self._handle = handle.value

    @property
    def info(self) -> Mapping[str, int]:
        """context, vocabulary, length (tokens of the text so far), weight_bytes, has_chat_template; embedding_width
        and pooling (0: the file does not say; 1: mean, 2: first, 3: last)."""
        info = new(_library.LmInfo)
        check(library.tg_lm_get_info(self._handle, info))
        return {name: getattr(info, name) for name, _ in info._fields_[1:]}

    def tokenize(self, text: str, *, special: bool = False) -> list[int]:
        """The tokens of a text. special: spellings of control tokens become these, and the vocabulary's first
        and last tokens are added."""
        data = text.encode()
        tokens = (ctypes.c_int32 * (len(data) + 16))()
        count = ctypes.c_size_t(len(tokens))
        check(library.tg_lm_tokenize(self._handle, data, len(data), int(special), tokens, ctypes.byref(count)))
        return tokens[:count.value]

    def detokenize(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        handle = ctypes.c_uint64()
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        check(library.tg_lm_detokenize(self._handle, array, len(tokens), ctypes.byref(handle)))
        return take_text(handle)

    def append(self, tokens: Sequence[int]) -> np.ndarray:
        """Appends tokens to the text and returns the logits of the next one."""
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        logits = np.empty(self.info["vocabulary"], np.float32)
        check(library.tg_lm_append(self._handle, array, len(tokens), address_of(logits), logits.size))
        return logits

    def truncate(self, length: int) -> None:
        """Takes back all tokens but the first `length`."""
        check(library.tg_lm_truncate(self._handle, length))

    def generate(self, prompt: Prompt, *, max_tokens: int = 0, temperature: float = 0, top_k: int = 40,
                 top_p: float = 0.95, min_p: float = 0.05, repeat_penalty: float = 1, repeat_window: int = 64,
                 seed: int = 0, stop: Sequence[str] = ()) -> Stream:
        """Generates a reply; iterating over the result gives its pieces.

        prompt: a text to continue; or a conversation, a list of {"role": ..., "content": ...} for which the
            file's chat template makes the prompt.
        max_tokens: 0: until the model ends the reply, or the context is full.
        temperature: 0: always the likeliest token.
        top_k, top_p, min_p: which tokens are considered, as for tg-llm; top_k=0: all.
        stop: texts that end the reply, and are no part of it.

        What the prompt has in common with the text so far, from its beginning, is not computed again.
        """
        return Stream(self, prompt, dict(max_tokens=max_tokens, temperature=temperature, top_k=top_k, top_p=top_p,
                                         min_p=min_p, repeat_penalty=repeat_penalty, repeat_window=repeat_window,
                                         seed=seed, stop=stop))

    def _generate(self, prompt: Prompt, show: Any, *, max_tokens: int, temperature: float, top_k: int, top_p: float,
                  min_p: float, repeat_penalty: float, repeat_window: int, seed: int, stop: Sequence[str]) -> Reply:
        options = new(_library.GenerateOptions)
        options.max_tokens, options.temperature = max_tokens, temperature
        options.top_k, options.top_p, options.min_p = top_k or -1, top_p, min_p or -1
        options.repeat_penalty, options.repeat_window, options.seed = repeat_penalty, repeat_window, seed
        stops = (ctypes.c_char_p * len(stop))(*[text.encode() for text in stop])
        options.stops, options.num_stops = stops, len(stop)
        failed: list[BaseException] = []

        def call(_context: Any, piece: bytes, _size: int) -> int:
            try:
                return int(not show(piece.decode(errors="replace")))
            except BaseException as error:  # raised again once tg has returned
                failed.append(error)
                return 1

        options.show = _library.Show(call)
        text, reply = ctypes.c_uint64(), new(_library.Reply)
        if isinstance(prompt, str):
            data = prompt.encode()
            status = library.tg_lm_generate(self._handle, data, len(data), options, ctypes.byref(text), reply)
        else:
            messages = (_library.Message * len(prompt))()
            for struct, message in zip(messages, prompt):
                struct.size = ctypes.sizeof(_library.Message)
                struct.role, struct.content = message["role"].encode(), message["content"].encode()
            status = library.tg_lm_chat(self._handle, messages, len(prompt), options, ctypes.byref(text), reply)
        check(status)
        said = take_text(text)
        if failed:
            raise failed[0]
        return Reply(said, _ENDS[reply.end], reply.prompt_tokens, reply.reused_tokens, reply.tokens,
                     reply.prompt_seconds, reply.decode_seconds)

    def embed(self, text: Union[str, Sequence[str]], *, pooling: str = "", normalize: bool = True) -> np.ndarray:
        """The embedding of a text, or a row for each of several texts.

            model = tg.LanguageModel("embedding.gguf", embeddings=True)
            a, b = model.embed(["a cat", "a dog"])
            print(a @ b)

        pooling: the state that represents a text: "last", of its last token; "first"; "mean", of all; by default
            what the file says, or the mean.
        normalize: to a length of 1.
        """
        if pooling not in _POOLINGS:
            raise InvalidArgument("there is no pooling '%s'; there are mean, first, last" % pooling)
        options = new(_library.EmbedOptions)
        options.pooling, options.raw = _POOLINGS.index(pooling), int(not normalize)
        texts = [text] if isinstance(text, str) else text
        rows = np.empty((len(texts), self.info["embedding_width"]), np.float32)
        for row, one in zip(rows, texts):
            data = one.encode()
            check(library.tg_lm_embed(self._handle, data, len(data), options, address_of(row), row.size))
        return rows[0] if isinstance(text, str) else rows

    def cancel(self) -> None:
        """Ends the reply that is being generated, from any thread."""
        check(library.tg_lm_cancel(self._handle))

    def close(self) -> None:
        """Gives up the model's memory now. Later calls raise tg.Closed."""
        handle, self._handle = self._handle, 0
        if handle:
            check(library.tg_lm_close(handle))
