# SPDX-License-Identifier: Apache-2.0
"""The tables of the article Servers."""
import pathlib
import re

from images import TYPES
from trial import CHANGES

ARTICLE = pathlib.Path(__file__).resolve().parents[2] / "Sources/SyncAgent/SyncAgent.docc/Servers.md"
BEGIN, END = "<!-- servers table -->", "<!-- end of servers table -->"

WORDS = {"full": "`--full`", "later": "later", "restart": "restart", None: "never"}
# More than one media type is right for some suffixes.
RIGHT = {"svg": ["image/svg+xml"], "ico": ["image/vnd.microsoft.icon", "image/x-icon"]}


def line(result):
    """A row for whoever watches a run."""
    if "missing" in result:
        return f"{result['name']}: not run: {result['missing']}"
    return " | ".join(cache_cells(result) if "expired" in result else server_cells(result))


def table(heads, rows):
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads),
                      *("| " + " | ".join(row) + " |" for row in rows)])


def named(result):
    note = f" ({result['note']})" if result["note"] else ""
    return f"{result['name']}{note}"


# Servers of files.

SERVER_HEADS = [
    "Server", "From", "Validators", "Unchanged", "Newer", "Older", "Same size and second", "Same time", "Same time and size",
    "Continues", "If-Range", "Other types"]


def noticed(change):
    word = WORDS.get(change["noticed"], "yes")
    if change["noticed"] == "refresh" and len(change["answers"]) > 1:
        word = "twice"
    errors = sorted(set(change["errors"].values()))
    return word + (f", `{errors[0]}` before" if errors else "")


def other_types(types):
    """The types that are not the right ones, with the suffixes that have them."""
    wrong = {}
    for suffix in TYPES:
        if types[suffix] not in RIGHT.get(suffix, [f"image/{suffix}"]):
            wrong.setdefault(types[suffix], []).append(suffix)
    return "; ".join(f"{', '.join(suffixes)}: {type_of}" for type_of, suffixes in wrong.items()) or "none"


def ranges(result):
    cut, _, problem = result["cut"].partition(", ")
    continues = {"206": "206", "200": "200", "not asked": "not tried"}.get(cut, cut)
    continues += f", `{problem}`" if problem else ""
    status, _, problem = result["replaced"].partition(", ")
    obeyed = "–" if cut != "206" else {"200": "yes", "206": "**no**"}.get(status, status)
    if problem:
        obeyed += f", {problem}" if problem == "old image" else f", `{problem}`"
    return [continues, obeyed]


def server_cells(result):
    same = result["same"]
    unchanged = str(same["answers"][-1]) if same["conditional"] else f"{same['answers'][-1]}, no condition"
    return [
        named(result), result["source"], result["validators"], unchanged,
        *(noticed(result[name]) for name in CHANGES if name != "same"), *ranges(result), other_types(result["types"])]


# Caches.

CACHE_HEADS = [
    "Cache", "Adds", "Fresh, unchanged", "Fresh, changed", "`--full`", "No lifetime", "`no-cache`", "Expired, changed",
    "Expired, unchanged", "Expired, tag alone", "Range", "Range, not announced", "500", "Unreachable", "404 is kept"]


def answer(one):
    """The status, and whether the origin was asked, with or without a condition."""
    asked = "cache" if not one["origin"] else "origin, conditional" if one.get("revalidated") else "origin"
    return f"{one['status']}, {asked}"


def seen(one):
    return f"{'new' if one['current'] else '**old**'} ({answer(one)})"


def statuses(pair):
    """Two answers. A status of 304, or 200 from an origin that fails, is the old copy."""
    words = [f"old copy ({status})" if status in (200, 304) else str(status or "no answer") for status in pair]
    return words[0] if words[0] == words[1] else f"{words[0]}, then {words[1]}"


def cache_cells(result):
    full = seen(result["fresh, full"])
    if result["fresh, full"]["current"] and not result["others"]:
        full += ", others get the old one"
    expired = seen(result["expired"])
    if not result["expired"]["current"]:
        expired += ", new at the next refresh" if result["expired, then"] else ", old at the next refresh"
    return [
        named(result), ", ".join(f"`{name.title()}`" for name in result["adds"]) or "nothing", answer(result["same"]),
        seen(result["fresh"]), full, seen(result["heuristic"]), seen(result["ask"]), expired,
        answer(result["expired-same"]), str(result["expired-tag"]["status"]), result["cut"], result["cut-unsaid"],
        statuses(result["fails"]), statuses(result["down"]), "no" if result["late"] else "yes"]


# The article.

def brief(text):
    """A message without what Markdown would take for markup."""
    plain = re.sub(r"[`<>|*\[\]]", "", text)
    return plain if len(plain) <= 120 else plain[:120].rsplit(" ", 1)[0] + " …"


def tables(results):
    ran = [result for result in results if "missing" not in result]
    missing = [result for result in results if "missing" in result]
    parts = ["### Servers of files", table(SERVER_HEADS, [server_cells(one) for one in ran if "expired" not in one]),
             "### Caches and proxies", table(CACHE_HEADS, [cache_cells(one) for one in ran if "expired" in one])]
    if missing:
        parts += ["Not run:", "\n".join(f"- {one['name']} ({one['source']}): {brief(one['missing'])}" for one in missing)]
    return "\n\n".join(parts)


def write(results):
    text = ARTICLE.read_text()
    before, _, rest = text.partition(f"{BEGIN}\n")
    _, _, after = rest.partition(f"{END}\n")
    ARTICLE.write_text(f"{before}{BEGIN}\n{tables(results)}\n{END}\n{after}")
