# SPDX-License-Identifier: Apache-2.0
"""The reference of the Swift library, from its symbol graph: what the compiler knows of each declaration.

usage: swift.py SYMBOLS

Prints a line for each declaration.
"""
import json
import pathlib
import re
import sys

from spans import outside_code

MEMBERS = {
    "swift.enum.case": "Cases", "swift.init": "Initializers", "swift.property": "Properties",
    "swift.type.property": "Properties", "swift.method": "Methods", "swift.type.method": "Methods",
    "swift.func.op": "Operators"}
TYPES = ("swift.struct", "swift.class", "swift.enum", "swift.protocol")


class Swift:
    """The declarations of the library, from what the compiler knows of them."""

    def __init__(self, graph):
        self.symbols = {symbol["identifier"]["precise"]: symbol for symbol in graph["symbols"]}
        self.protocols = {}
        for relation in graph["relationships"]:
            if relation["kind"] == "conformsTo" and relation["source"] in self.symbols:
                other = self.symbols.get(relation["target"])
                name = ".".join(other["pathComponents"]) if other else relation.get("targetFallback", relation["target"])
                # What a protocol inherits is in its declaration already.
                if self.symbols[relation["source"]]["kind"]["identifier"] != "swift.protocol":
                    self.protocols.setdefault(relation["source"], set()).add(name)
        self.labels, used = {}, set()
        self.order = sorted(self.symbols.values(), key=lambda symbol: (symbol["pathComponents"], self.declaration(symbol)))
        for symbol in self.order:
            label = base = "swift-" + re.sub(r"\W+", "-", "-".join(symbol["pathComponents"]).lower()).strip("-")
            while label in used:
                label = f"{base}-{len(used)}"
            used.add(label)
            self.labels[symbol["identifier"]["precise"]] = label
        self.by_path = {}
        for symbol in self.order:
            self.by_path.setdefault("/".join(symbol["pathComponents"]), symbol)

    @staticmethod
    def declaration(symbol):
        text = "".join(part["spelling"] for part in symbol["declarationFragments"])
        return re.sub(r"\s+", " ", text).strip()

    def lines(self):
        """A line for each declaration: its type, what it declares, and to which protocols it conforms."""
        for symbol in self.order:
            protocols = sorted(self.protocols.get(symbol["identifier"]["precise"], ()))
            owner = ".".join(symbol["pathComponents"][:-1])
            yield ((f"{owner}: " if owner else "") + self.declaration(symbol)
                   + (f" // {', '.join(protocols)}" if protocols else ""))

    def link(self, name):
        # In the catalog of a module, its name comes first if it is that of a type, too.
        symbol = self.by_path.get(name) or self.by_path.get(name.removeprefix("IconCache/"))
        if symbol is None:
            sys.exit(f"There is no symbol {name}.")
        return f"[`{symbol['pathComponents'][-1]}`]({self.labels[symbol['identifier']['precise']]})"

    def comment(self, symbol):
        """What is written about it, with links to what its owner has, too."""
        text = "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", ()))
        path = symbol["pathComponents"]

        def link(found):
            scopes = ["/".join([*path[:length], found[1]]) for length in range(len(path), -1, -1)]
            name = next((scope for scope in scopes if scope in self.by_path), found[1])
            return self.link(name)

        text = outside_code(text, lambda part: re.sub(r"``([^`\n]+)``", link, part))
        return re.sub(r"(?m)^- (Throws|Returns|Parameter \w+|Complexity|Note):", r"- **\1:**", text)

    def described(self, symbol, level):
        title = symbol["pathComponents"][-1]
        if symbol["kind"]["identifier"] in TYPES:
            title = ".".join(symbol["pathComponents"])
        text = f"({self.labels[symbol['identifier']['precise']]})=\n{'#' * level} {title}\n\n"
        declaration = self.declaration(symbol)
        protocols = [name for name in sorted(self.protocols.get(symbol["identifier"]["precise"], ()))
                     if name != "Swift.SendableMetatype"]
        if protocols:
            declaration += f": {', '.join(name.removeprefix('Swift.') for name in protocols)}"
        return text + f"```swift\n{declaration}\n```\n\n{self.comment(symbol)}\n\n"

    def pages(self):
        """A page for each type at the top, with its members and the types in it."""
        members = {}
        for symbol in self.order:
            members.setdefault(tuple(symbol["pathComponents"][:-1]), []).append(symbol)

        def page(symbol, level):
            text = self.described(symbol, level)
            inside = members.get(tuple(symbol["pathComponents"]), [])
            for title in dict.fromkeys(MEMBERS.values()):
                for member in inside:
                    if MEMBERS.get(member["kind"]["identifier"]) == title:
                        text += self.described(member, level + 1)
            for member in inside:
                if member["kind"]["identifier"] in TYPES:
                    text += page(member, 2)
            return text

        for symbol in members.get((), []):
            yield symbol["pathComponents"][0], page(symbol, 1)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(64)
    print("\n".join(sorted(Swift(json.loads(pathlib.Path(sys.argv[1]).read_text())).lines())))
