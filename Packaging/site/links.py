# SPDX-License-Identifier: Apache-2.0
"""Looks at the links of web pages in a folder, as they were made.

usage: links.py FOLDER

Every relative link leads to a file and a place in it that are there, and nothing is loaded from elsewhere. Problems are
printed, and the exit code is 1.
"""
import html.parser
import pathlib
import sys
import urllib.parse

# Attributes that have a browser load something by itself.
LOADED = {("script", "src"), ("img", "src"), ("source", "srcset"), ("link", "href"), ("iframe", "src"), ("form", "action")}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.places, self.links = {""}, []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and tag != "meta":
                self.places.add(value)
            elif name in ("href", "src", "srcset", "action") and value:
                self.links.append((value, (tag, name) in LOADED))


def problems(folder):
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link, is_loaded in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if is_loaded:
                    yield path, f"loads {link}"
                continue
            target = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
            if not target.is_file():
                yield path, f"there is no {link}"
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].places:
                    yield path, f"there is no place {link}"
            elif link.startswith("/"):
                yield path, f"{link} is not relative"
    for path in sorted(folder.rglob("*.css")):
        if "@import" in (text := path.read_text()) or "url(" in text:
            yield path, "loads something"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(64)
    folder = pathlib.Path(sys.argv[1]).resolve()
    found = [f"{path.relative_to(folder)}: {problem}" for path, problem in problems(folder)]
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)


main()
