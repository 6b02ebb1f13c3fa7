# SPDX-License-Identifier: Apache-2.0
"""The rules that end-to-end tests show, and what depends on what: which tests a change asks for."""
import os, re, subprocess

PROJECT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
TABLE = "Tests/EndToEndTests/rules.tsv"
END_TO_END = "EndToEndTests"
BINDINGS = "Sources/Bindings"

# Modules whose tests start no program, open no socket and wait for nothing.
PURE = ("CacheFormat", "AppLists", "ImageChecks", "HTTPRules", "Fleet", "AgentSettings", "Reports", "SyncPlan")

# What depends on files besides modules by their imports: the beginning of their path, test targets, end-to-end suites, steps.
OTHER_DEPENDENTS = (
    ("README.md", "", "", "Documentation"),
    ("Sources/CacheFormat/", "", "", "Readers"),
    ("Sources/DashboardPage/", "", "DashboardTests", ""),
    ("Sources/Fleet/", "", "", "Simulation|Fleet"),
    ("Sources/IconCache/", "", "", "Readers|Documentation"),
    ("Sources/IconCache/IconCache.docc/", "IconCacheTests|CacheFormatTests", "CopyTests|ChurnTests", ""),
    ("Sources/LibIconCache/", "IconCacheTests", "", "Readers|Documentation"),
    ("Sources/Launcher/", "SyncAgentCLITests", "", "Launcher"),
    ("Sources/ListParse/", "", "", "Programs of a release"),
    ("Sources/PythonIconCache/", "IconCacheTests", "", "Readers|Launcher|Documentation"),
    ("Sources/Renderer/", "", "", "Renderer"),
    ("Sources/SyncAgent/SyncAgent.docc/",
     "SyncAgentTests|SyncAgentCLITests|AgentSettingsTests|AgentServerTests|ReportsTests",
     "ControlArticleTests|EventTests|MetricsTests", "Documentation"),
    ("Sources/SyncPlan/", "", "", "Costs|Simulation"),
    ("Packaging/", "SyncAgentCLITests", "", "Package|Package on a Debian that boots|Image|Documentation"),
    ("Tests/Benchmarks/", "", "", "Costs"),
    ("Tests/Bindings/", "TestSupport", "", ""),
    ("Tests/Checks/release", "", "", "Programs of a release"),
    ("Tests/Conformance/", "", "LanguageTests", "Readers"),
    ("Tests/Dashboard/", "", "DashboardTests", ""),
    ("Tests/Fleet/", "", "", "Fleet"),
    ("Tests/Fuzz/", "FuzzTests", "", "Programs of a release"),
    ("Tests/Fuzz/Corpus/lists/", "", "", "Harmless lists"),
    ("Tests/Golden/", "AgentServerTests|SyncAgentCLITests|SyncPlanTests", "TranscriptTests|EarlierReleaseTests", ""),
    ("Tests/Image/", "", "", "Image"),
    ("Tests/Package/", "", "", "Package on a Debian that boots"),
    ("Tests/Launcher/", "", "", "Launcher"),
    ("Tests/ListParseTests/", "", "", "Harmless lists"),
    ("Tests/Renderer/", "", "", "Renderer"),
    ("Tests/Simulation/", "", "", "Simulation"),
    ("Tests/Site/", "", "", "Documentation"),
    ("Tests/TestSupport/RefusedList", "", "", "Harmless lists"),
    ("Tests/Tools/characters", "", "", "Text by bytes"),
    ("Tests/Tools/complete", "", "ShellCompletionTests", ""),
    ("Tests/Tools/flood", "", "FloodTests|ForeignUserTests", ""),
    ("Tests/Tools/harmless", "", "", "Harmless lists"),
)


def git(*arguments):
    return subprocess.run(
        ["git", *arguments], cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")


def files(*patterns):
    """The files of the project that are regular, whether they are committed or not."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
    return sorted({name for name in listed if name and os.path.isfile(os.path.join(PROJECT, name))})


def read(name):
    with open(os.path.join(PROJECT, name), encoding="utf-8", errors="replace") as file:
        return file.read()


class Rule:
    """A row: the test that shows a rule end to end, the modules and suites that decide it, and the rule."""

    def __init__(self, line, number):
        cells = line.split("\t")
        self.place = f"{TABLE}:{number}"
        self.problem = None if len(cells) == 4 else f"has {len(cells)} columns, not 4"
        self.tier, self.test, below, self.rule = (cells + [""] * 4)[:4]
        self.suite, _, self.function = self.test.partition(".")
        self.below = below.split()
        self.modules = {name.split("/")[0] for name in self.below}

    @property
    def pattern(self):
        return rf"^{END_TO_END}\.{self.suite}/{self.function}\("


def table():
    lines = read(TABLE).split("\n")
    return [Rule(line, number) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]


def dependencies():
    """The modules that each target of Package.swift names."""
    direct, text = {}, re.sub(r"(?m)^\s*//.*", "", read("Package.swift"))
    starts = list(re.finditer(r'\.(?:target|executableTarget|testTarget|systemLibrary)\(\s*name: "(\w+)"', text))
    for start, end in zip(starts, [*starts[1:], None]):
        body = text[start.end():end.start() if end else len(text)]
        listed = re.search(r"dependencies: \[(.*?)\]", body, re.S)
        direct[start[1]] = set(re.findall(r'"(\w+)"', listed[1])) if listed else set()
    return direct


def targets():
    """The modules that each target depends on, also through others, itself among them."""
    direct, closure = dependencies(), {}

    def close(name):
        if name not in closure:
            closure[name] = {name}
            for other in direct.get(name, ()):
                # What helps the tests uses much of the project, which they do not test by that.
                closure[name] |= {other} if other == "TestSupport" else close(other)
        return closure[name]

    return {name: close(name) & direct.keys() for name in direct}


def changed_files(revision):
    """The files that differ from a commit, by their old names too."""
    names = git("diff", "-z", "--no-renames", "--name-only", revision, "--")
    return sorted({name for name in names + git("ls-files", "-z", "--others", "--exclude-standard") if name})


class Selection:
    """The tests that a change asks for."""

    def __init__(self, changed):
        modules, whole, suites, steps = set(), set(), set(), set()
        known = targets()
        for name in changed:
            for prefix, *dependents in OTHER_DEPENDENTS:
                if name.startswith(prefix):
                    for chosen, more in zip((whole, suites, steps), dependents):
                        chosen.update(filter(None, more.split("|")))
            parts = name.split("/")
            if name == "Package.swift":
                modules |= known.keys()
            elif parts[0] == "Packaging":
                modules.add("Packaging")
            elif parts[0] == "Sources" and len(parts) > 2 and not name.endswith(".md"):
                # A binding is named by its folder below `Bindings`.
                modules.add(parts[2] if parts[1] == "Bindings" else parts[1])
            elif name.startswith(f"Tests/{END_TO_END}/") and name != TABLE:
                there = os.path.exists(os.path.join(PROJECT, name))
                found = re.findall(r"\bstruct (\w+Tests)\b", read(name)) if there else []
                suites.update(found)
                if not found:
                    # What several suites share.
                    whole.add(END_TO_END)
            elif parts[0] == "Tests" and parts[1] in known:
                whole.add(parts[1])
        # A binding is a part of the modules that use it.
        bindings = modules & set(os.listdir(os.path.join(PROJECT, BINDINGS)))
        modules |= {name for name, needed in dependencies().items()
                    if needed & bindings and os.path.isdir(os.path.join(PROJECT, "Sources", name))}
        self.modules, self.steps = modules, sorted(steps)
        self.targets = sorted(
            name for name, needed in known.items()
            if name.endswith("Tests") and name != END_TO_END and needed & (modules | whole))
        self.rules = [
            rule for rule in table()
            if whole & {END_TO_END, "TestSupport"} or rule.suite in suites or rule.modules & modules]
