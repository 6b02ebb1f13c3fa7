# SPDX-License-Identifier: Apache-2.0
"""Servers on loopback: nginx with files, and one that takes its time."""
import asyncio
import multiprocessing
import os
import socket
import subprocess
import time
import urllib.request

from .images import png

_CONFIGURATION = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; log_format time $msec; sendfile on; keepalive_requests 100000000; types {{ image/png png; }}
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{port}; listen 127.0.0.1:{secure} ssl http2; root {root};
    ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.key;
    location /stale/ {{ alias {root}/icons/; add_header Cache-Control no-cache; }}
    location /timed/ {{
      alias {root}/icons/; access_log {folder}/times time; add_header Cache-Control max-age=31536000;
    }}
    location = /requests {{ stub_status; }}
    location / {{ add_header Cache-Control max-age=31536000; }}
  }}
}}
"""


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """nginx in one process of its own: HTTP/1.1, and HTTP/2 over TLS with a certificate of its own authority."""

    def __init__(self, folder, root):
        self.folder = folder
        os.makedirs(folder)
        port, secure = _free_port(), _free_port()
        self.plain, self.secure = f"http://127.0.0.1:{port}", f"https://127.0.0.1:{secure}"
        self.authority = f"{folder}/ca.pem"
        self._certify()
        path = f"{folder}/nginx.conf"
        with open(path, "w") as file:
            file.write(_CONFIGURATION.format(folder=folder, root=root, port=port, secure=secure))
        self.process = subprocess.Popen(["nginx", "-c", path, "-e", f"{folder}/nginx.log"], stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.02)
        raise RuntimeError(f"nginx does not start: see {folder}/nginx.log")

    def _certify(self):
        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=benchmark CA")
        openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
        with open(f"{self.folder}/names", "w") as file:
            file.write("subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n")
        authority = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
        openssl("x509", "-req", "-in", "server.csr", *authority, "-days", "30", "-extfile", "names", "-out", "server.pem")

    def requests(self):
        """How many requests it has answered so far."""
        with urllib.request.urlopen(f"{self.plain}/requests") as answer:
            return int(answer.read().split(b"requests")[1].split()[2])

    def last_answer(self):
        """When it had sent the last image below /timed/, in seconds since 1970."""
        with open(f"{self.folder}/times") as file:
            return float(file.read().split()[-1])

    def end(self):
        self.process.terminate()
        self.process.wait()


class SlowOrigin:
    """A server that answers each request after a while, with another image for each path."""

    def __init__(self, delay, size=None):
        port = multiprocessing.Value("i", 0)
        self.process = multiprocessing.Process(target=_serve, args=(port, delay, size), daemon=True)
        self.process.start()
        while self.process.is_alive() and port.value == 0:
            time.sleep(0.01)
        self.port = port.value
        self.url = f"http://127.0.0.1:{self.port}"

    def end(self):
        self.process.terminate()
        self.process.join()


class _Answers(asyncio.Protocol):
    """Clients send a request when they have the answer to the last one."""

    def __init__(self, delay, size):
        self.delay, self.size, self.received = delay, size, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        while b"\r\n\r\n" in self.received:
            request, self.received = self.received.split(b"\r\n\r\n", 1)
            path = request.split(b" ", 2)[1].decode()
            asyncio.get_running_loop().call_later(self.delay, self.answer, path)

    def answer(self, path):
        body = png(path, self.size)
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nCache-Control: max-age=31536000\r\n\r\n"
        self.transport.write(head.encode() + body)


def _serve(port, delay, size):
    async def main():
        # At all addresses of loopback: each is an origin of its own.
        server = await asyncio.get_running_loop().create_server(
            lambda: _Answers(delay, size), "0.0.0.0", 0, backlog=4096)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(main())
