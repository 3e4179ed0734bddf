"""tg-llm --serve on a small model: replies, streams, many clients, bad requests, clients that leave.

    server_test.py TG_LLM MODEL.gguf MAKE_MODEL.py
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

TG_LLM, MODEL, MAKE_MODEL = [os.path.abspath(path) for path in sys.argv[1:4]]
CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
HELLO = [{"role": "user", "content": "Hello"}]


class ServerTest(unittest.TestCase):
    @classmethod
    def start(cls, model):
        cls.process = subprocess.Popen([TG_LLM, model, "--serve", "--port=0", "-n", "12"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = cls.process.stderr.readline()
        cls.port = int(re.fullmatch(r"tg-llm: http://127\.0\.0\.1:(\d+)\n", line)[1])

    @classmethod
    def tearDownClass(cls):
        cls.process.send_signal(signal.SIGTERM)
        out, err = cls.process.communicate(timeout=60)
        assert (cls.process.returncode, out, err) == (0, "", ""), (cls.process.returncode, out, err)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, data)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def post(self, path, body):
        status, text = self.ask("POST", path, body)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def connect(self, sent):
        """A connection on which these bytes were sent."""
        client = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        client.sendall(sent)
        return client


def request_bytes(path, body):
    data = json.dumps(body).encode()
    return b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(data), data)


class Server(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.start(MODEL)

    def events(self, path, body):
        status, text = self.ask("POST", path, {**body, "stream": True})
        self.assertEqual(status, 200, text)
        lines = [line for line in text.split("\n") if line]
        self.assertTrue(all(line.startswith("data: ") for line in lines), text)
        self.assertEqual(lines[-1], "data: [DONE]")
        return [json.loads(line[6:]) for line in lines[:-1]]

    def test_health_and_models(self):
        self.assertEqual(self.ask("GET", "/health"), (200, '{"status":"ok"}'))
        status, text = self.ask("GET", "/v1/models")
        self.assertEqual((status, json.loads(text)["data"][0]["id"]), (200, "chat"))
        status, text = self.ask("GET", "/v1/models/chat")
        self.assertEqual((status, json.loads(text)["id"]), (200, "chat"))

    def test_a_chat(self):
        reply = self.post(CHAT, {"messages": HELLO})
        said = subprocess.run([TG_LLM, MODEL, "-p", "Hello", "-n", "12"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        choice = reply["choices"][0]
        self.assertEqual(choice["message"], {"role": "assistant", "content": said[:-1]})
        self.assertEqual((choice["finish_reason"], reply["object"]), ("length", "chat.completion"))
        usage = reply["usage"]
        self.assertEqual(usage["completion_tokens"], 12)
        self.assertEqual(usage["total_tokens"], usage["prompt_tokens"] + 12)
        parts = [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]
        again = self.post(CHAT, {"messages": [{"role": "user", "content": parts}]})
        self.assertEqual(again["choices"], reply["choices"])

    def test_a_completion(self):
        reply = self.post(TEXT, {"prompt": "Hello", "max_tokens": 5, "temperature": 1, "seed": 7})
        self.assertEqual(reply["object"], "text_completion")
        again = self.post(TEXT, {"prompt": "Hello", "max_tokens": 5, "temperature": 1, "seed": 7})
        self.assertEqual(again["choices"], reply["choices"])
        self.assertEqual(self.post(TEXT, {"prompt": "x", "max_tokens": 0})["choices"][0]["text"], "")

    def test_streams_give_the_same_text(self):
        whole = self.post(CHAT, {"messages": HELLO})["choices"][0]["message"]["content"]
        events = self.events(CHAT, {"messages": HELLO})
        self.assertEqual("".join(e["choices"][0]["delta"]["content"] for e in events), whole)
        self.assertGreater(len(events), 3)
        self.assertEqual(events[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
        reasons = [e["choices"][0]["finish_reason"] for e in events]
        self.assertEqual(reasons, [None] * (len(events) - 1) + ["length"])
        whole = self.post(TEXT, {"prompt": "Hello"})["choices"][0]["text"]
        events = self.events(TEXT, {"prompt": "Hello"})
        self.assertEqual("".join(e["choices"][0]["text"] for e in events), whole)

    def test_a_stream_ends_with_its_usage_on_request(self):
        for path, body in ((CHAT, {"messages": HELLO}), (TEXT, {"prompt": "Hello"})):
            usage = self.post(path, body)["usage"]
            self.assertEqual(usage["completion_tokens"], 12)
            events = self.events(path, {**body, "stream_options": {"include_usage": True}})
            self.assertEqual((events[-1]["choices"], events[-1]["usage"]), ([], usage))
            self.assertTrue(all(e["usage"] is None for e in events[:-1]))
            self.assertTrue(all("usage" not in e for e in self.events(path, body)))

    def test_a_stop(self):
        whole = self.post(TEXT, {"prompt": "Hello"})["choices"][0]["text"]
        stop = re.search(r"[!-~]{2}", whole)[0]
        choice = self.post(TEXT, {"prompt": "Hello", "stop": ["never said", stop]})["choices"][0]
        self.assertEqual((choice["text"], choice["finish_reason"]), (whole[:whole.index(stop)], "stop"))

    def test_fifty_clients_at_once(self):
        def client(i):
            body = {"prompt": f"client {i % 5}", "max_tokens": 4, "stream": i % 2 == 1}
            status, text = self.ask("POST", TEXT, body)
            self.assertEqual(status, 200, text)
            if i % 2 == 0:
                return i % 5, json.loads(text)["choices"][0]["text"]
            lines = [line for line in text.split("\n") if line][:-1]
            events = [json.loads(line[6:]) for line in lines]
            return i % 5, "".join(e["choices"][0]["text"] for e in events)
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            replies = set(pool.map(client, range(50)))
        self.assertEqual(len(replies), 5)  # each prompt has one reply

    def test_connections_wait_to_be_accepted(self):
        request = b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"
        with contextlib.ExitStack() as stack:
            self.process.send_signal(signal.SIGSTOP)
            stack.callback(self.process.send_signal, signal.SIGCONT)
            clients = [stack.enter_context(
                socket.create_connection(("127.0.0.1", self.port), timeout=20)) for _ in range(50)]
            for client in clients:
                client.sendall(request)
            self.process.send_signal(signal.SIGCONT)
            for client in clients:
                self.assertIn(b"200 OK", client.recv(100))

    def test_a_client_that_goes_away(self):
        body = {"prompt": "Hello", "max_tokens": 200, "stream": True}
        for _ in range(3):
            with self.connect(request_bytes(TEXT, body)) as client:
                client.recv(100)
        with self.connect(b"POST %s HTTP/1.1\r\nContent-Length: 100\r\n\r\n{" % TEXT.encode()):
            pass
        self.post(TEXT, {"prompt": "Hello", "max_tokens": 2})

    def test_idle_and_slow_connections_delay_nobody(self):
        with contextlib.ExitStack() as stack:
            for i in range(200):
                sent = b"" if i % 2 else b"POST %s HTTP/1.1\r\nContent-Length: 100\r\n\r\n{" % TEXT.encode()
                stack.enter_context(self.connect(sent))
            begin = time.monotonic()
            for _ in range(10):
                self.assertEqual(self.ask("GET", "/health")[0], 200)
                self.post(TEXT, {"prompt": "Hello", "max_tokens": 2})
            self.assertLess(time.monotonic() - begin, 4)

    def test_a_chunked_body_is_bounded(self):
        chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
        head = b"POST %s HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" % TEXT.encode()
        with self.connect(head + 17 * chunk) as client:
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 413 "))
        # A body of 1 MiB is read: it is no JSON.
        with self.connect(head + 16 * chunk + b"0\r\n\r\n") as client:
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 400 "))

    def refuses(self, status, message, path, body, method="POST"):
        got, text = self.ask(method, path, body)
        self.assertEqual(got, status, text)
        self.assertIn(message, json.loads(text)["error"]["message"])

    def test_bad_requests(self):
        self.refuses(400, "not JSON", TEXT, "{")
        self.refuses(400, "the body", TEXT, b"[" * 100000)
        self.refuses(400, "not a JSON object", TEXT, "[]")
        self.refuses(400, "'prompt'", TEXT, {})
        self.refuses(400, "'prompt'", TEXT, {"prompt": 5})
        self.refuses(400, "no token", TEXT, {"prompt": ""})
        self.refuses(400, "'messages'", CHAT, {"messages": []})
        self.refuses(400, "'messages[1]'", CHAT, {"messages": HELLO + [{"role": "user"}]})
        self.refuses(400, "'messages[0]'", CHAT, {"messages": ["Hello"]})
        self.refuses(400, "'temperature'", TEXT, {"prompt": "x", "temperature": -1})
        self.refuses(400, "'max_tokens'", TEXT, {"prompt": "x", "max_tokens": "many"})
        self.refuses(400, "'stop'", TEXT, {"prompt": "x", "stop": [1]})
        self.refuses(400, "'n'", TEXT, {"prompt": "x", "n": 2})
        self.refuses(400, "the context holds 256", TEXT, {"prompt": "x" * 300})
        self.refuses(404, "there is no POST /v2", "/v2", {})
        self.refuses(404, "there is no GET " + TEXT, TEXT, None, method="GET")
        self.refuses(413, "the body has more than 1048576 bytes", TEXT, "x" * (2 << 20))
        self.refuses(400, "'tools' is not supported", CHAT, {"messages": HELLO, "tools": [{"type": "function"}]})
        self.refuses(400, "'frequency_penalty' is not supported", TEXT, {"prompt": "x", "frequency_penalty": 1})

    def test_a_port_that_is_taken(self):
        result = subprocess.run([TG_LLM, MODEL, "--serve", f"--port={self.port}"], check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((result.returncode, result.stderr),
                         (1, f"tg-llm: --serve: 127.0.0.1:{self.port} cannot be listened to\n"))


class SlowModel(ServerTest):
    """A model whose replies take a while."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "slow.gguf")
            subprocess.run([sys.executable, MAKE_MODEL, "--layers=4", "--width=256", "--feed-forward=512",
                            "--context=4096", model], check=True)
            cls.start(model)

    def test_clients_that_leave_free_the_model(self):
        long = {"prompt": "Hello", "max_tokens": 600}
        begin = time.monotonic()
        self.assertEqual(self.post(TEXT, long)["usage"]["completion_tokens"], 600)
        whole = time.monotonic() - begin
        # One leaves while its reply is made, the others while they wait.
        clients = [self.connect(request_bytes(TEXT, long)) for _ in range(8)]
        time.sleep(whole / 4)
        for client in clients:
            client.close()
        begin = time.monotonic()
        self.post(TEXT, {"prompt": "Hello", "max_tokens": 1})
        self.assertLess(time.monotonic() - begin, 2 * whole)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
