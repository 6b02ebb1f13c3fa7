# SPDX-License-Identifier: Apache-2.0
"""Starts a program for each connection to a port of 127.0.0.1, on its standard input and output, as inetd would."""
import socketserver
import subprocess
import sys


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        subprocess.run(sys.argv[2:], stdin=self.request, stdout=self.request)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
