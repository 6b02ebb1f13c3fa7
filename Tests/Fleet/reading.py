#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Readers of an upstream that believe nothing: everything a manifest names has to be there, with its digest.

usage: reading.py URL SECONDS READERS POLL

Each reader gets the manifest every POLL seconds, its documents, and the icons that it does not have yet; now and then
it starts with nothing again. At the end it prints one JSON document: `polls` are [time, generation], `faults` are
texts.
"""
import hashlib
import http.client
import json
import pathlib
import random
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Package"))
import icons  # noqa: E402


class Reader:
    def __init__(self, base, number):
        address = urllib.parse.urlsplit(base)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        self.prefix = address.path
        self.chance = random.Random(number)
        self.known = set()
        self.generation = 0
        self.polls = []
        self.faults = []
        self.requests = 0

    def get(self, path, digest=None):
        self.requests += 1
        for attempt in (1, 2):
            try:
                self.connection.request("GET", self.prefix + path)
                reply = self.connection.getresponse()
                body = reply.read()
                break
            except http.client.RemoteDisconnected:
                # A connection that was kept, and that the server closed meanwhile.
                self.connection.close()
                if attempt == 2:
                    raise
        assert reply.status == 200, f"{path}: status {reply.status}"
        assert digest in (None, hashlib.sha256(body).hexdigest()), f"{path}: wrong bytes"
        return body

    def poll(self):
        manifest = json.loads(self.get("manifest.json"))
        generation = manifest["generation"]
        self.polls.append((time.time(), generation))
        assert generation >= self.generation, f"generation {generation} after {self.generation}"
        self.generation = generation
        if self.chance.random() < 0.1:
            self.known.clear()
        for name, entry in manifest["lists"].items():
            if entry["sha256"] in self.known:
                continue
            document = json.loads(self.get(entry["document"], entry["sha256"]))
            for app in document["apps"]:
                if app["status"] != "ready" or app["sha256"] in self.known:
                    continue
                image = self.get(app["path"], app["sha256"])
                number = int(app["icon"].rpartition("/")[2].removesuffix(".png"))
                assert image == icons.png(number), f"{app['path']} is not the image of {app['icon']} in {name}"
                self.known.add(app["sha256"])
            self.known.add(entry["sha256"])

    def run(self, end, pause):
        time.sleep(self.chance.random() * pause)
        while time.time() < end:
            try:
                self.poll()
            except Exception as error:
                self.connection.close()
                self.faults.append(f"generation {self.generation}: {type(error).__name__}: {error}")
            time.sleep(pause * self.chance.uniform(0.9, 1.1))


def main(base, seconds, count, pause):
    readers = [Reader(base, number) for number in range(int(count))]
    end = time.time() + float(seconds)
    threads = [threading.Thread(target=reader.run, args=(end, float(pause))) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({
        "polls": [poll for reader in readers for poll in reader.polls],
        "faults": [fault for reader in readers for fault in reader.faults],
        "requests": sum(reader.requests for reader in readers)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
