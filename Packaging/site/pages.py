# SPDX-License-Identifier: Apache-2.0
"""Turns what the project has of documentation into pages that Sphinx reads.

usage: pages.py SYMBOLS FOLDER MANUAL...

FOLDER gets the README as the start page, the articles of both catalogs, the manual pages MANUAL, and the reference of the
Swift library from its symbol graph SYMBOLS. Articles stay what DocC reads, too: “<doc:Name>” and ``Symbol`` become links,
and the sections “Topics” tell how articles are grouped.
"""
import json
import pathlib
import re
import shutil
import sys

from manuals import described, manual
from python_module import PythonModule
from spans import outside_code
from swift import Swift

PROJECT = pathlib.Path(__file__).resolve().parents[2]
AGENT = PROJECT / "Sources/SyncAgent/SyncAgent.docc"
LIBRARY = PROJECT / "Sources/IconCache/IconCache.docc"
PICTURES = (".svg", ".png", ".jpg", ".webp")


class Articles:
    def __init__(self, swift, manuals):
        self.swift, self.manuals = swift, manuals
        self.paths = {
            path.stem: f"{path.parent.name}/{path.name}" if path.parent.name == "Decisions" else path.name
            for catalog in (AGENT, LIBRARY) for path in catalog.rglob("*.md")}

    def linked(self, text, place):
        """Has links lead to pages. `place` leads from the folder of the article to the top."""

        def target(found):
            name, _, anchor = found.partition("#")
            if name not in self.paths:
                sys.exit(f"There is no article {name}.")
            return place + self.paths[name] + (f"#{anchor.lower()}" if anchor else "")

        def manual_page(found):
            page = self.manuals.get(f"{found[1]}.{found[2]}")
            return f"[{found[0]}]({place}man/{page}.md)" if page else found[0]

        def change(part):
            part = re.sub(r"<doc:([^>]+)>", lambda found: f"[]({target(found[1])})", part)
            part = re.sub(r"\]\(doc:([^)]+)\)", lambda found: f"]({target(found[1])})", part)
            part = re.sub(r"(?<![\w[/.-])([a-z][\w.-]*)\((\d)\)", manual_page, part)
            return re.sub(r"``([^`\n]+)``", lambda found: self.swift.link(found[1]), part)

        return outside_code(text, change)

    def page(self, path, place=""):
        """An article without its topics, and those by group."""
        text, _, topics = path.read_text().partition("\n## Topics\n")
        before, _, after = text.partition("## Overview\n\n")
        if after:
            # Without that heading, those below it are one level higher.
            overview, rest, others = after.partition("\n## ")
            text = before + re.sub(r"(?m)^###(?=#* )", "##", overview) + rest + others
        text = re.sub(r"^# ``(\w+)``", r"# \1", text)
        groups = {}
        for group in re.split(r"(?m)^### ", topics)[1:]:
            title, _, body = group.partition("\n")
            groups[title.strip()] = re.findall(r"(?m)^- (.+)$", body)
        return self.linked(text, place), groups


def start_page(articles):
    """The README, the pictures in its Markdown, and those in its HTML."""
    pictures, others = [], []

    def destination(found, files):
        path, _, anchor = found[2].partition("#")
        file = PROJECT / path
        if not path or ":" in path:
            return found[0]
        if file.parent.suffix == ".docc" and file.stem in articles.paths:
            return found[1] + articles.paths[file.stem] + (f"#{anchor}" if anchor else "") + found[3]
        if file.suffix not in PICTURES:
            # What is no page is named, as it is in the source.
            return None
        if not file.is_file():
            sys.exit(f"README.md: there is no {path}.")
        files.append(path)
        return found[0]

    def change(part):
        part = re.sub(r"(\]\()([^)\s]+)(\))", lambda found: destination(found, pictures) or "](\0)", part)
        part = re.sub(r"\[([^\]]*)\]\(\0\)", r"\1", part)
        return re.sub(r'(<[^>]*\b(?:src|srcset)=")([^"\s]+)(")', lambda found: destination(found, others) or "", part)

    return outside_code((PROJECT / "README.md").read_text(), change), pictures, others


def c_page(manuals):
    """The manual pages of the C library with what they describe, and its header as it is."""
    text = "# C library libiconcache\n\n"
    text += "The header, with what it says of each function. The manual pages tell more:\n\n"
    for name, functions in manuals.items():
        others = ", ".join(f"`{function}`" for function in functions if f"{function}.3" != name)
        text += f"- [{name[:-2]}({name[-1]})](man/{name}.md)" + (f", also for {others}" if others else "") + "\n"
    header = (PROJECT / "Sources/LibIconCache/iconcache.h").read_text()
    # Each part has its heading, and with it a place in the contents of the page and in what a search finds.
    beginning = header.index("/*", header.index("#define ICONCACHE_API\n"))
    parts = re.split(r"(?m)^/\* MARK: (.*) \*/\n", header[beginning:header.rindex("#ifdef __cplusplus")])
    for title, part in zip(["Results and errors", *parts[1::2]], parts[::2]):
        text += f"\n## {title}\n\n```c\n{part.strip()}\n```\n"
    return text


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        sys.exit(64)
    graph, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    swift = Swift(json.loads(graph.read_text()))
    manuals = {path.name: path for path in map(pathlib.Path, sys.argv[3:])}
    pages_of = {f"{name}{path.suffix}": path.name for path in manuals.values() for name in described(path)}
    pages_of.update((name, name) for name in manuals)
    articles = Articles(swift, pages_of)
    groups = {}

    def write(name, text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    for catalog in (AGENT, LIBRARY):
        for path in sorted(catalog.rglob("*.md")):
            name = articles.paths[path.stem]
            text, topics = articles.page(path, "../" if "/" in name else "")
            if path.stem == catalog.stem:
                for title, pages in topics.items():
                    names = [found[1] for page in pages if (found := re.match("<doc:(.*)>", page))]
                    groups.setdefault(title, []).extend(names)
                if catalog == AGENT:
                    continue
                text = re.sub("^# .*", "# Swift library IconCache", text)
            elif path.parent.name == "Decisions":
                # They have a list of their own, which is as long as the navigation.
                text = f"---\norphan: true\n---\n\n{text}\n\n[All decisions](../Decisions.md)\n"
            elif path.stem == "Decisions":
                for title, pages in topics.items():
                    text += f"\n## {title}\n\n" + articles.linked("\n".join(f"- {page}" for page in pages), "") + "\n"
            write(name, text)
        for picture in (path for path in catalog.iterdir() if path.suffix in PICTURES):
            shutil.copy(picture, folder)

    texts = {name: text for name, path in manuals.items() if (text := manual(path, pages_of))}
    for name, text in texts.items():
        write(f"man/{name}.md", text)
    write("python.md", PythonModule(PROJECT / "Sources/PythonIconCache/iconcache").page())
    of_c = {name: described(manuals[name]) for name in sorted(texts) if name.endswith(".3")}
    write("c.md", c_page(of_c) + contents({"": [f"man/{name}" for name in of_c]}))
    types = dict(swift.pages())
    for name, text in types.items():
        write(f"swift/{name}.md", text)
    with open(folder / "IconCache.md", "a") as file:
        file.write(contents({"": [f"swift/{name}" for name in types]}))

    groups = {title: pages for title, pages in groups.items() if pages}
    others = sorted((name for name in texts if name not in of_c), key=lambda name: (name[-1], name))
    reference = {"Manual pages": [f"man/{name}" for name in others], "References": ["c", "python", "IconCache"]}
    titles = list(groups)
    last = titles.index("About syncagent")
    groups = {title: groups[title] for title in titles[:last]} | reference | {title: groups[title] for title in titles[last:]}
    text, pictures, others = start_page(articles)
    write("index.md", text + contents(groups))
    (folder / "extra").mkdir()
    for name, top in [*((name, folder) for name in pictures), *((name, folder / "extra") for name in others)]:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, top / name)


def contents(groups):
    """The pages by group, which the navigation shows."""
    return "".join(
        "\n```{toctree}\n" + (f":caption: {title}\n" if title else "") + ":hidden:\n\n" + "\n".join(pages) + "\n```\n"
        for title, pages in groups.items())


main()
