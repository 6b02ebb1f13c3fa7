# SPDX-License-Identifier: Apache-2.0
"""What failed in a step, from what its tests wrote: each with its place, and the command that runs it alone."""
import collections, json, os, re

import rules


class Failure:
    def __init__(self, name, place, message, command, test=None):
        self.name, self.place, self.message, self.command, self.test = name, place, message, command, test

    def __str__(self):
        lines = [f"{self.place}: {self.name}" if self.place else self.name]
        lines += ["    " + line for line in self.message.split("\n")[:12] if line.strip()]
        return "\n".join(lines + ([f"    alone: {self.command}"] if self.command else []))


def records(path):
    """The records of an event stream of Swift Testing; the last one may be cut."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    pass
    except FileNotFoundError:
        pass


def name_of(identifier):
    """A test as --only takes it, of its identifier in the stream: `Module.Suite/function()/File.swift:12:6`."""
    return re.sub(r"/[^/]*:\d+:\d+$", "", identifier)


class SwiftTests:
    """How the tests of one process went, by the stream of their events."""

    def __init__(self, events):
        self.failures, self.seconds, self.passed, self.ended = [], {}, 0, False
        # How many tests were skipped, by the reason.
        self.skipped = collections.Counter()
        # Issues of a suite, or of a task that outlives its test: no test can be run again for them.
        self.unattributed = []
        names, started, failed, issues = {}, {}, set(), {}
        for record in records(events):
            payload = record.get("payload", {})
            if record.get("kind") == "test":
                names[payload["id"]] = payload
                continue
            test, kind = payload.get("testID"), payload.get("kind")
            if kind == "runEnded":
                self.ended = True
            if kind == "issueRecorded" and not payload["issue"].get("isKnown") and (
                    test is None or names.get(test, {}).get("kind") == "suite"):
                self.unattributed.append(self.failure(test or "no test", names.get(test, {}), [payload]))
            if test is None or names.get(test, {}).get("kind") == "suite":
                continue
            time = payload.get("instant", {}).get("absolute", 0)
            if kind == "testStarted":
                started[test] = time
            elif kind == "testSkipped":
                texts = [message["text"] for message in payload.get("messages", []) if message.get("text")]
                self.skipped[texts[0].partition(" skipped: ")[2].strip('"') if texts else ""] += 1
            elif kind == "issueRecorded" and not payload["issue"].get("isKnown"):
                failed.add(test)
                issues.setdefault(test, []).append(payload)
            elif kind == "testEnded" and test in started:
                self.seconds[name_of(test)] = time - started.pop(test)
                self.passed += test not in failed
        for test, found in issues.items():
            self.failures.append(self.failure(test, names.get(test, {}), found))
        # Whoever ended the process did it in the middle of these.
        self.unfinished = [name_of(test) for test in started]
        if not self.ended:
            for test in started:
                if test not in issues:
                    message = [{"messages": [{"text": "The process of the tests ended in the middle of it."}]}]
                    self.failures.append(self.failure(test, names.get(test, {}), message))

    @staticmethod
    def failure(test, known, found):
        name = name_of(test)
        place = found[0].get("issue", {}).get("sourceLocation") or known.get("sourceLocation", {})
        path = place.get("_filePath") or place.get("filePath") or place.get("fileID", "")
        path = os.path.relpath(path, rules.PROJECT) if path.startswith("/") else path
        texts = [message["text"] for message in found[0].get("messages", []) if message.get("text")]
        if len(found) > 1:
            texts.append(f"and {len(found) - 1} more")
        title = known.get("displayName") or known.get("name") or name
        case = found[0].get("_testCase", {}).get("displayName")
        if case:
            texts.insert(0, f"with {case[:200]}")
        return Failure(
            f"{name}  “{title}”" if title != name else name, f"{path}:{place.get('line', '?')}", "\n".join(texts),
            f"Packaging/test --only '{name.partition('.')[2] or name}'", name)


def of_compiler(log):
    """The errors of a compiler, each once."""
    found = dict.fromkeys(re.findall(r"(?m)^(/[^\s:]+):(\d+):\d+: error: (.*)$", log))
    return [Failure(message, f"{os.path.relpath(path, rules.PROJECT)}:{line}", "", None) for path, line, message in found]


def of_python(log, command):
    """The failures that unittest wrote into the log of a step."""
    found = []
    for block in re.split(r"\n={60,}\n", log)[1:]:
        head = re.match(r"(?:FAIL|ERROR): (\S+) \(([\w.]+)\)", block)
        if not head:
            continue
        places = re.findall(r'File "([^"]+)", line (\d+)', block)
        ours = [(path, line) for path, line in places if path.startswith(rules.PROJECT + "/")]
        path, line = (ours or places or [("", "?")])[-1]
        body = block.split("\n-----", 1)[0].rstrip().split("\n")
        place = f"{os.path.relpath(path, rules.PROJECT)}:{line}" if path else ""
        found.append(Failure(f"{head[2]}.{head[1]}", place, "\n".join(body[-6:]), command))
    return found
