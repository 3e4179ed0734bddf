"""Talks to a tg-serve process (tg-serve.cc)."""

import os
import subprocess


class Server:
    """A tg-serve process, which is restarted if it died."""

    def __init__(self):
        self.process = None
        self.ids = {}  # by text: (id, kernels)

    def start(self):
        path = os.environ.get("TG_SERVE", "tg-serve")
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ids = {}

    def ask(self, request):
        """The words of the answer's first line, behind `ok`."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        try:
            self.process.stdin.write(request)
            self.process.stdin.flush()
            words = self.process.stdout.readline().split()
        except BrokenPipeError:
            words = []
        except BaseException:  # a test's time is up: what is still to come answers no later request
            self.process.kill()
            self.process.wait()
            self.process = None
            raise
        if not words:
            code = self.process.wait()
            self.process = None
            raise RuntimeError(f"tg-serve ended with {code}")
        if words[0] == b"error":
            raise RuntimeError("tg: " + self.read(int(words[1])).decode())
        return [int(word) for word in words[1:]]

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) != count:
            raise RuntimeError("tg-serve ended")
        return data

    def compile(self, text, pipeline):
        """(id, kernels)"""
        if self.process is None or self.process.poll() is not None:
            self.start()
        if (text, pipeline) not in self.ids:
            if len(self.ids) >= 300:
                oldest = next(iter(self.ids))
                self.ask(b"drop %d\n" % self.ids.pop(oldest)[0])
            data = text.encode()
            head = f"compile {len(data)} {pipeline}\n".encode()
            self.ids[text, pipeline] = tuple(self.ask(head + data))
        return self.ids[text, pipeline]

    def print(self, text, pipeline):
        """The module after these passes, in tg's text."""
        data = text.encode()
        (size,) = self.ask(f"print {len(data)} {pipeline}\n".encode() + data)
        return self.read(size).decode()

    def kernels(self, text, pipeline, variables):
        """[(name, operations, bytes of traffic, groups, work-items a group, source)]"""
        number = self.compile(text, pipeline)[0]
        parts = [f"kernels {number} {len(variables)}\n"]
        parts += [f"{name} {value}\n" for name, value in variables.items()]
        (count,) = self.ask("".join(parts).encode())
        result = []
        for _ in range(count):
            name, *numbers = self.process.stdout.readline().decode().split()
            ops, traffic, *sizes, size = (int(word) for word in numbers)
            result.append((name, ops, traffic, sizes[:3], sizes[3:], self.read(size).decode()))
        return result

    def run(self, program, variables, inputs, outputs):
        """(contents of the outputs, kernels, operations)"""
        number = self.compile(program.text, program.pipeline)[0]
        parts = [b"run %d %d %d %d\n" % (number, len(variables), len(inputs), len(outputs))]
        parts += [f"{name} {value}\n".encode() for name, value in variables.items()]
        for name, data in inputs.items():
            parts += [f"{name} {len(data)}\n".encode(), data]
        parts += [f"{name}\n".encode() for name in outputs]
        kernels, ops = self.ask(b"".join(parts))
        return [self.read(int(self.process.stdout.readline())) for _ in outputs], kernels, ops
