#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of icons that counts requests. It is told what to do on stdin, and ends with it.

usage: origin.py ADDRESS PORT

A command is one line, and so is its answer, in JSON: `counts` are the requests for each number since the beginning,
`hold N` lets the bodies wait once N more were sent, `release` sends them.
"""
import asyncio
import collections
import json
import sys

import icons

counts = collections.Counter()
room = None
released = asyncio.Event()


async def answer(path, headers):
    """The head and the body of a reply; the body may have to wait."""
    global room
    name = path.strip("/").removesuffix(".png")
    if not name.isdigit():
        return "404 Not Found", {}, b""
    number = int(name)
    counts[number] += 1
    fields = {"ETag": f'"{number}"', "Cache-Control": "max-age=86400", "Content-Type": "image/png"}
    if headers.get("if-none-match") == f'"{number}"':
        return "304 Not Modified", fields, b""
    if room is not None:
        if room == 0:
            await released.wait()
        else:
            room -= 1
    return "200 OK", fields, icons.png(number)


async def serve(reader, writer):
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            request, *lines = head.decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            status, fields, body = await answer(request.split(" ")[1], headers)
            fields["Content-Length"] = len(body)
            writer.write(f"HTTP/1.1 {status}\r\n".encode())
            writer.write("".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode())
            writer.write(b"\r\n" + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def obey(command, *arguments):
    global room
    if command == "counts":
        return counts
    if command == "hold":
        room = int(arguments[0])
        released.clear()
    elif command == "release":
        room = None
        released.set()
    else:
        raise ValueError(command)
    return None


async def main(address, port):
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    await asyncio.start_server(serve, address, int(port))
    print(json.dumps("ready"), flush=True)
    while line := await commands.readline():
        print(json.dumps(obey(*line.decode().split())), flush=True)


asyncio.run(main(*sys.argv[1:]))
