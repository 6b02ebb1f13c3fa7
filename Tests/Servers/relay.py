# SPDX-License-Identifier: Apache-2.0
"""What stands between the agent and a server: it passes bytes on, notes each exchange, and can cut a response."""
import select
import socket
import struct
import threading
import time


class Exchange:
    """A request, and the head of its response."""

    def __init__(self, request):
        line, self.asked = head_of(request)
        self.method, self.path = line.split(" ")[:2]
        self.status, self.given = None, {}
        self.at = time.monotonic()

    @property
    def is_conditional(self):
        return "if-none-match" in self.asked or "if-modified-since" in self.asked

    def __repr__(self):
        return f"{self.path} {self.asked.get('range', '')} {self.status} {self.given}"


def head_of(text):
    """The first line and the fields of a head. The last of several fields with one name counts."""
    first, *lines = text.decode("latin-1").rstrip("\r\n").split("\r\n")
    fields = (line.partition(":") for line in lines)
    return first, {name.strip().lower(): value.strip() for name, _, value in fields}


class Closed(Exception):
    """A peer has closed its connection."""


class Stream:
    """Reads from a socket by lines, heads and lengths."""

    def __init__(self, peer):
        self.peer, self.kept = peer, b""

    def more(self):
        try:
            data = self.peer.recv(65536)
        except OSError:
            data = b""
        if not data:
            raise Closed
        self.kept += data

    def until(self, mark):
        while mark not in self.kept:
            self.more()
        found, _, self.kept = self.kept.partition(mark)
        return found + mark

    def some(self, limit=None):
        """At least a byte, and no more than the limit."""
        if not self.kept:
            self.more()
        found, self.kept = self.kept[:limit], self.kept[len(self.kept[:limit]):]
        return found


class Relay:
    """Passes the connections to a port of 127.0.0.1 on to another one."""

    def __init__(self, target):
        self.target = target
        self.exchanges = []
        self.lock = threading.Lock()
        # Paths whose next response is cut in half, and what is done before its connection is closed.
        self.cuts = {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def since(self, mark, name):
        """The exchanges about a file after the first so many of all."""
        with self.lock:
            return [one for one in self.exchanges[mark:] if one.path == f"/{name}"]

    def mark(self):
        with self.lock:
            return len(self.exchanges)

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=30)
            except OSError:
                return
            with server:
                try:
                    while self.exchange(client, server):
                        pass
                except (Closed, OSError, ValueError):
                    pass

    def exchange(self, client, server):
        """Passes one request and its response on. False if the connection ends with it."""
        # A server that closes an idle connection ends both.
        if server in select.select([client, server], [], [])[0]:
            return False
        request = Stream(client).until(b"\r\n\r\n")
        exchange = Exchange(request)
        server.sendall(request)
        answer = Stream(server)
        with self.lock:
            self.exchanges.append(exchange)
            cut = self.cuts.pop(exchange.path, None)
        head = answer.until(b"\r\n\r\n")
        first, exchange.given = head_of(head)
        exchange.status = int(first.split(" ")[1])
        client.sendall(head)
        if cut:
            self.cut(client, answer, exchange, cut)
            return False
        has_end = self.body(client, answer, exchange)
        is_kept = first.startswith("HTTP/1.1") and exchange.given.get("connection", "").lower() != "close"
        return has_end and is_kept

    def cut(self, client, answer, exchange, action):
        length = int(exchange.given.get("content-length", 65536)) // 2
        while length > 0:
            data = answer.some(length)
            client.sendall(data)
            length -= len(data)
        action()
        # The bytes that were sent arrive, and then the connection is reset.
        time.sleep(0.05)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def body(self, client, answer, exchange):
        """False if only the end of the connection ends the body."""
        if exchange.status in (204, 304) or exchange.method == "HEAD":
            return True
        if "chunked" in exchange.given.get("transfer-encoding", ""):
            size = 1
            while size:
                line = answer.until(b"\r\n")
                size = int(line.split(b";")[0], 16)
                client.sendall(line)
                self.pass_on(client, answer, size + 2)
            return True
        if "content-length" in exchange.given:
            self.pass_on(client, answer, int(exchange.given["content-length"]))
            return True
        while True:
            client.sendall(answer.some())

    @staticmethod
    def pass_on(client, answer, length):
        while length > 0:
            data = answer.some(length)
            client.sendall(data)
            length -= len(data)
