# SPDX-License-Identifier: Apache-2.0
"""What can be said of the project without building it. Each check returns its problems, as `FILE:LINE: MESSAGE`."""
import ast, json, os, re, subprocess
from concurrent.futures import ThreadPoolExecutor

import rules
from rules import files, read

TOP_LEVEL = {"Package.swift", "Sources", "Tests", "Packaging", "README.md", "findings"}

# What each module may import: values know no files, and the plan decides without the system.
IMPORTS = {
    "CacheFormat": "CCrypto FoundationEssentials Glibc",
    "AppLists": "CacheFormat FoundationEssentials Glibc",
    "ImageChecks": "CDeflate",
    "HTTPRules": "AppLists CacheFormat FoundationEssentials ImageChecks",
    "Fleet": "AppLists CCrypto CacheFormat FoundationEssentials HTTPRules ImageChecks",
    "AgentSettings": "AppLists CacheFormat Fleet Glibc HTTPRules ImageChecks",
    "Reports": "AgentSettings AppLists Articles CacheFormat Fleet HTTPRules",
    "SyncPlan": "AgentSettings AppLists CacheFormat DequeModule Fleet HTTPRules HeapModule Reports",
    "IconCache": "CLinux CacheFormat Dispatch FoundationEssentials Glibc Synchronization SystemPackage",
    "SyncAgent": "AgentSettings AppLists CCrypto CLinux CSQLite CacheFormat DequeModule Dispatch Fleet"
                 " FoundationEssentials Glibc HTTPRules HeapModule IconCache ImageChecks Logging Reports SyncPlan"
                 " Synchronization SystemPackage Transfers",
    "Transfers": "AppLists CCurl Glibc HTTPRules SystemPackage",
    "ListParse": "AppLists CLinux CacheFormat FoundationEssentials Glibc",
    "ListParseCLI": "AppLists CacheFormat Glibc ListParse",
    "ListWatch": "CInotifyTools Glibc",
}

# Words that readers in a hurry stumble over, and what to write.
WORDS = {
    r"so that it be\b": "so that it is",
    r"\bis said to be\b": "name the subject, and use the active voice",
    r"\bit is asked for\b": "the agent requests …",
    r"\bHas nobody\b": "Forgets …, Ignores …",
    r"\bteh\b|\brecieve|\boccured\b|\bseperate": "spell it right",
}

# Files in which String is a key of dictionaries or a member of sets, and what the texts are: all of them ASCII, which has
# one spelling. String compares text, where the world compares bytes.
KEYED_BY_TEXT = {
    "CacheFormat/JSON+Encoding.swift": "names of properties, which are ours",
    "CacheFormat/AppListDocument+JSON.swift": "sizes of renditions",
    "CacheFormat/Manifest.swift": "what a JSON decoder gives, before each line is decoded on its own",
    "ListWatch/LinkWatch.swift": "paths that were taken from the file system, and go back to it",
    "SyncAgent/Agent/Listeners.swift": "names of listeners, which are ours",
    "SyncAgent/Service/PartProbes.swift": "names of the agent's parts",
    "SyncAgent/Remember/Database.swift": "names of columns, and statements",
    "SyncAgent/Cache/CacheFolder.swift": "paths of the cache's own folders",
    "SyncAgent/Cache/CacheFolder+Shape.swift": "names of the cache's own folders",
    "SyncAgent/Metrics/MetricsRegistry.swift": "names of metrics, which are ours",
    "SyncAgent/Cache/FolderSearch.swift": "names in icons/ and by-url/",
    "SyncAgent/Evict/OfflinePurge.swift": "names in icons/",
    "SyncAgent/Publish/StagedImages.swift": "numbers, and paths in icons/",
    "SyncAgent/Publish/Publisher.swift": "names in staging/, and paths in icons/",
    "SyncPlan/Publish/Publication.swift": "names in staging/",
    "SyncPlan/Renditions/StagedRenditions.swift": "names in staging/",
    "SyncPlan/Renditions/Renditions.swift": "names in staging/",
    "SyncAgent/Cache/Scrubber.swift": "names in by-url/",
    "SyncAgent/Fetch/Staging.swift": "names in staging/",
    "SyncAgent/Fleet/Export.swift": "paths of an export",
    "Fleet/Export/ExportFile.swift": "paths of an export",
    "Fleet/Export/UnnamedFiles.swift": "paths of an export",
    "SyncPlan/Fetch/DownloadSchedule.swift": "origins",
    "SyncPlan/Fetch/FetchQueue.swift": "origins",
    "SyncPlan/Fetch/NetworkLogin.swift": "origins, and the names in them",
    "HTTPRules/Credentials/Credentials.swift": "hosts and paths, in ASCII",
    "SyncAgent/Fleet/AdoptedLists.swift": "names of the folders of upstreams",
    "SyncPlan/Icons/IconTally.swift": "origins",
    "SyncPlan/Remember/MemoChanges.swift": "origins",
    "Fleet/Upstreams/IconSources.swift": "URLs of upstreams, as they are sent",
}
BYTES_COMPARED = ("AppLists", "CacheFormat", "Fleet", "HTTPRules", "IconCache", "ImageChecks", "ListParse", "ListWatch",
                  "Reports", "SyncAgent", "SyncPlan")

CATALOGS = ("Sources/IconCache/IconCache.docc", "Sources/SyncAgent/SyncAgent.docc")


def lines(name):
    return enumerate(read(name).split("\n"), 1)


def layout():
    top = {name.split("/")[0] for name in files()}
    return [f"{name}:1: is at the top level, and not to be there"
            for name in sorted(top) if name not in TOP_LEVEL and not name.startswith(".")]


def licences():
    return [f"{name}:1: has no licence line (SPDX-License-Identifier)"
            for name in files("*.swift", "*.c", "*.h", "*.py") if "SPDX-License-Identifier" not in read(name)]


def imports():
    problems, statement = [], re.compile(r"(?:@\w+ |public |package )*import (\w+)")
    for module, allowed in IMPORTS.items():
        for name in files(f"Sources/{module}/*.swift"):
            for number, line in lines(name):
                found = statement.match(line)
                if found and found[1] not in allowed.split():
                    problems.append(f"{name}:{number}: {module} may not import {found[1]}, only {allowed}")
    return problems


def keys():
    """String is a key only where it can be nothing but ASCII: other names are IconURL, ListName or another Identity."""
    found = {}
    for module in BYTES_COMPARED:
        for name in files(f"Sources/{module}/*.swift"):
            for number, line in lines(name):
                if not line.lstrip().startswith("//") and re.search(r"\[String: |Set<String>|Dictionary<String", line):
                    found.setdefault(name.removeprefix("Sources/"), number)
    return [f"Sources/{name}:{number}: a String is a key: use IconURL, ListName or another Identity"
            for name, number in found.items() if name not in KEYED_BY_TEXT] + [
        f"Tests/Checks/static.py:1: no String is a key in {name} any longer" for name in KEYED_BY_TEXT if name not in found]


def formatting():
    run = subprocess.run(
        ["swift", "format", "lint", "--strict", "--recursive", "--parallel", "Package.swift", "Sources", "Tests"],
        cwd=rules.PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = [line.replace(rules.PROJECT + "/", "") for line in run.stdout.split("\n") if ": error:" in line]
    return found or ([f"swift format: {run.stdout[-500:]}"] if run.returncode else [])


def scripts():
    """Whether scripts and data can be read at all."""
    problems = []
    for name in files("Packaging", "Tests", ".ci", "findings"):
        text = read(name)
        if name.endswith(".json") and not name.startswith(("Tests/Fuzz/Corpus/", "Tests/Golden/")):
            try:
                json.loads(text)
            except ValueError as error:
                problems.append(f"{name}:1: {error}")
            continue
        first = text.split("\n", 1)[0]
        if name.endswith(".py") or re.match(r"#!.*python", first):
            try:
                ast.parse(text)
            except SyntaxError as error:
                problems.append(f"{name}:{error.lineno}: {error.msg}")
        elif re.match(r"#!.*\b(ba)?sh\b", first):
            run = subprocess.run(["bash", "-n", name], cwd=rules.PROJECT, text=True, stderr=subprocess.PIPE)
            problems += [f"{name}:1: {run.stderr.strip()}"] if run.returncode else []
    return problems


def words():
    problems = []
    for name in files("Sources", "README.md", "Packaging"):
        if not name.endswith((".swift", ".md", ".c", ".h", ".py", ".1", ".5", ".5.in", ".8")):
            continue
        for number, line in lines(name):
            for pattern, advice in WORDS.items():
                if found := re.search(pattern, line):
                    problems.append(f"{name}:{number}: “{found[0]}”: {advice}")
    return problems


def documents():
    return ["README.md", *(name for catalog in CATALOGS for name in files(f"{catalog}/*.md"))]


def article(name):
    return os.path.basename(name).removesuffix(".md")


def links():
    """Links between articles, and from the README, lead to something; every article is among the topics."""
    problems = []
    for name in documents():
        catalog = next((catalog for catalog in CATALOGS if name.startswith(catalog)), None)
        articles = {article(other) for other in files(f"{catalog}/*.md")} if catalog else set()
        for number, line in lines(name):
            problems += [f"{name}:{number}: there is no article {link}"
                         for link in re.findall(r"[<(]doc:([^>)#]+)", line) if link not in articles]
            if name == "README.md":
                problems += [f"{name}:{number}: there is no {link}" for link in re.findall(r"\]\(([^):#]+)\)", line)
                             if not os.path.exists(os.path.join(rules.PROJECT, link))]
    for catalog in CATALOGS:
        linked = {os.path.basename(catalog).removesuffix(".docc")}
        for name in files(f"{catalog}/*.md"):
            _, _, topics = read(name).partition("\n## Topics\n")
            linked.update(re.findall(r"[<(]doc:([^>)#]+)", topics))
        problems += [f"{name}:1: is among the topics of no article"
                     for name in files(f"{catalog}/*.md") if article(name) not in linked]
    return problems


def names():
    """Files, test suites, settings, variables, commands and types that texts name are there."""
    problems = []
    everything = "\n".join(read(name) for name in files("Sources/*.swift", "Sources/*.c", "Sources/*.h", "Tests/*.swift"))
    identifiers = set(re.findall(r"\w+", everything)) | set(re.findall(r"\w+", read("Package.swift")))
    properties = set(re.findall(r"\b(?:let|var) (\w+)", everything)) | {"sock"}
    settings = set(re.findall(r'"([a-z]+\.[a-zA-Z]+)"', "".join(
        read(name) for name in files("Sources/AgentSettings/Table/*.swift"))))
    sections = {name.split(".")[0] for name in settings}
    commands = set(re.findall(r'commandName: "(\w+)"', everything)) | {"help"}
    existing = set(files())
    folders = {name[:end.start()] for name in existing for end in re.finditer("/", name)}
    identifiers |= {os.path.basename(folder) for folder in folders}

    def exists(name):
        return name.rstrip("/") in existing or name.rstrip("/") in folders

    for name in documents():
        # Release notes tell of what was.
        inside = article(name) in ("Architecture", "Development")
        for number, line in lines(name):
            for code in re.findall(r"`([^`\n]+)`", line):
                word = code.split(" ")[0]
                if re.search("NAME|Name|YYYY", word):
                    continue
                wrong = None
                if re.match(r"(Sources|Tests|Packaging|\.ci)/", word):
                    wrong = not exists(word)
                elif re.fullmatch(r"([A-Za-z]+Tests|Fuzz)/[A-Za-z0-9/+]+", word):
                    wrong = not exists(f"Tests/{word}.swift")
                elif re.fullmatch(r"[a-z]+\.[a-z][a-zA-Z]+", word) and word.split(".")[0] in sections:
                    # Or a member of a report, or of a type.
                    wrong = word not in settings and word.split(".")[1] not in properties
                elif code.startswith("syncagent ") and re.fullmatch(r"[a-z]+", code.split(" ")[1]):
                    wrong = code.split(" ")[1] not in commands
                elif inside and re.fullmatch(r"[A-Z]\w*[a-z]\w*(\.\w+)?(\(.*\))?", word):
                    wrong = any(part not in identifiers for part in re.findall(r"\w+", word.split("(")[0]))
                if wrong:
                    problems.append(f"{name}:{number}: there is no {code}")
    targets = set(re.findall(r'\.(?:target|executableTarget|systemLibrary)\(\s*name: "(\w+)"', read("Package.swift")))
    targets = {name for name in targets if exists(f"Sources/{name}") or exists(f"Sources/Bindings/{name}")}
    text = read(f"{CATALOGS[1]}/Architecture.md")
    _, _, table = text.partition("| Module | Subject |\n")
    rows = table.split("\n\n")[0].split("\n")[1:]
    rows = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    problems += [f"{CATALOGS[1]}/Architecture.md:1: has no row for the module {name}" for name in targets - set(rows)]
    problems += [f"{CATALOGS[1]}/Architecture.md:1: has a row for {name}, which is no module" for name in set(rows) - targets]
    return problems


def tests():
    """All tests, as file, line, suite, function and name, and all suites, with no function."""
    declaration = re.compile(
        r"(?m)^( *)(?:@(Suite|Test)\b|(?:\w+ )*(?:struct|enum|class|extension) (\w+)|(?:\w+ )*func (\w+)\()")
    for name in files("Tests/*.swift"):
        types, pending, text = {}, None, read(name)
        for found in declaration.finditer(text):
            indent, number = len(found[1]), text.count("\n", 0, found.start()) + 1
            if found[2]:
                title = re.match(r'\s*@\w+\(\s*"((?:[^"\\]|\\.)*)"', text[found.start():])
                pending = (found[2], title[1] if title else None, number)
            elif found[3]:
                types[indent] = found[3]
                if pending and pending[0] == "Suite":
                    yield name, pending[2], found[3], None, pending[1]
                    pending = None
            elif pending and pending[0] == "Test":
                # A helper type that is nested above a test is no suite.
                yield name, pending[2], types.get(indent - 4), found[4], pending[1]
                pending = None


def subjects():
    """The name of a test says of what it speaks: in a list of failed tests, it stands alone."""
    vague = re.compile(
        r"(it|they|that|those|what|whatever|ones|such|also|is|are|has|have|does|do|which|who|whoever|whose|somebody|nobody|"
        r"(the same|the rest|the others?|this|these)(?= (is|are|where|with|in|for|as)\b|,|$)|"
        r"(each|all|none|one|both|neither|any)( of)?( (them|those|that|is|are|has|have|what)|,))\b", re.I)
    return [f"{name}:{number}: “{title}” has no subject: name the type, command or file"
            for name, number, _, _, title in tests() if title and vague.match(title)]


def table():
    """Each end-to-end test has its row in the table of rules, with modules and suites that exist."""
    problems, seen = [], set()
    all_tests = list(tests())
    suites = {}
    for name, _, suite, function, _ in all_tests:
        suites.setdefault(name.split("/")[1], set()).add(suite)
    there = {f"{suite}.{function}": f"{name}:{number}" for name, number, suite, function, _ in all_tests
             if function and name.startswith(f"Tests/{rules.END_TO_END}/")}
    rows = rules.table()
    for row in rows:
        if row.problem:
            problems.append(f"{row.place}: {row.problem}")
            continue
        if row.test not in there:
            problems.append(f"{row.place}: there is no test {row.test}")
        if row.test in seen:
            problems.append(f"{row.place}: {row.test} has a row already")
        seen.add(row.test)
        if row.tier not in ("quick", "-"):
            problems.append(f"{row.place}: the first column is quick or -, not {row.tier}")
        for name in row.below:
            module, _, suite = name.partition("/")
            known = os.path.isdir(os.path.join(rules.PROJECT, "Sources", module)) or module == "Packaging"
            if not known:
                problems.append(f"{row.place}: there is no module {module}")
            elif suite and suite not in suites.get(f"{module}Tests", ()):
                problems.append(f"{row.place}: there is no suite {suite} in {module}Tests")
        if not row.rule:
            problems.append(f"{row.place}: has no rule")
    problems += [f"{place}: {test} has no row in {rules.TABLE}" for test, place in there.items() if test not in seen]
    count = sum(row.tier == "quick" for row in rows)
    if count != 20:
        problems.append(f"{rules.TABLE}:1: {count} tests are quick, and 20 should be")
    return problems


CHECKS = (formatting, layout, licences, imports, keys, scripts, words, links, names, subjects, table)


def problems():
    with ThreadPoolExecutor(2) as pool:
        return [problem for found in pool.map(lambda check: check(), CHECKS) for problem in found]
