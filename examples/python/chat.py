"""A chat with a language model: chat.py MODEL.gguf [TOKENS]. Each line of the input is a turn."""

import sys

import tg

model = tg.LanguageModel(sys.argv[1], device="cpu")
max_tokens = int(sys.argv[2]) if len(sys.argv) > 2 else 0
turns = []
for line in sys.stdin:
    turns.append({"role": "user", "content": line.strip()})
    reply = model.generate(turns, max_tokens=max_tokens)
    for piece in reply:
        print(piece, end="", flush=True)
    print()
    turns.append({"role": "assistant", "content": reply.reply.text})
