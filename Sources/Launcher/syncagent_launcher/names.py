# SPDX-License-Identifier: Apache-2.0
"""What an app is called, where it is in the results of a search, and what stands for an icon that it does not have."""
import re
import unicodedata
import zlib

# The number of colors of placeholders, which style.css has as color-0 and so on.
COLORS = 10

# Where words begin: after a space or a sign, in camel case, and where digits follow letters.
WORD = re.compile(r"(?<![^\W_])[^\W_]|(?<=[a-z])[A-Z]|(?<=[^\W\d_])\d")
# A URL that the agent may request. In any other one with an @, a password can be anywhere.
REQUESTED = re.compile(r"https?://(\[[0-9a-f:.]+\]|[\w.-]{1,253})(:[0-9]{0,5})?(?![^/?#])", re.ASCII | re.IGNORECASE)
NOT_INSTALLED = "It is not installed: no desktop file has its id or name."
# The places of matches, the best first.
BEGINNING, BEGINNING_OF_WORD, ELSEWHERE = range(3)


def clean(text, length=200):
    """Text of a list, for one line: spaces in place of control characters, and shortened."""
    text = re.sub(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+", " ", text).strip()
    return text if len(text) <= length else text[: length - 1] + "…"


def label(app):
    """The name of an app; without one, the file name and the host of its icon."""
    if name := clean(app.name or ""):
        return name
    if app.icon[:5].lower() == "data:":
        return "data: image"
    icon = re.sub(r"\A([^:]*://)[^/\\?#]*@", r"\1", app.icon)
    if icon == app.icon and "@" in icon and not REQUESTED.match(icon):
        return "…"
    host, path = re.match(r"(?:[^:/?#]+:)?(?://)?([^/?#]*)([^?#]*)", icon).groups()
    file = path.rstrip("/").rpartition("/")[2]
    return clean(f"{file} ({host})" if file else host, 40)


def natural(name):
    """The sort key of a name: `App 2` is before `App 10`, as in the agent's tables."""
    def number(found):
        digits = found[0].lstrip(b"0")
        return b"0" + len(digits).to_bytes(4, "big") + digits

    text = name.encode()
    return re.sub(rb"[0-9]+", number, text.lower()), text


def without_accents(text):
    if text.isascii():
        return text
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def folded(text):
    """Text as it is searched: without case and accents."""
    return without_accents(text).casefold()


class Entry:
    """An app of a list, with its label as it is shown and as it is searched."""

    __slots__ = ("app", "label", "folded", "words")

    def __init__(self, app):
        self.app, self.label = app, label(app)
        plain = without_accents(self.label)
        self.folded = plain.casefold()
        # Where words begin in it: a letter that is folded can become two.
        starts = (found.start() for found in WORD.finditer(plain))
        self.words = tuple(starts if plain.isascii() else (len(plain[:start].casefold()) for start in starts))

    @property
    def identity(self):
        """What tells whether two entries are the same app."""
        return self.app.id, self.app.name or self.app.icon


def match(entry, text):
    """The place of an entry in the results of a search for folded text; None if it is not one of them."""
    if entry.folded.startswith(text):
        return BEGINNING
    if any(entry.folded.startswith(text, start) for start in entry.words):
        return BEGINNING_OF_WORD
    return ELSEWHERE if all(part in entry.folded for part in text.split()) else None


def found(entries, text):
    """The entries whose names have all words of a text: those that begin with it first, then those with a word that does.

    Within each of these groups they stay in order.
    """
    text = " ".join(folded(text).split())
    if not text:
        return entries
    groups = [[], [], []]
    for entry in entries:
        place = match(entry, text)
        if place is not None:
            groups[place].append(entry)
    return [entry for group in groups for entry in group]


def letter(name):
    """The letter that stands for an app without an image; empty if its name has neither letters nor digits."""
    first = next((sign for sign in unicodedata.normalize("NFC", name) if sign.isalnum()), "")
    return first.upper()[:1]


def color(name):
    """The number of the color that stands for an app without an image: always the same one for a name."""
    return zlib.crc32(folded(name).encode("utf-8", "surrogatepass")) % COLORS


def desktop_files(app):
    """The names of the desktop files that may start an app, the first one first."""
    # A name of a list must not lead to another folder.
    return [f"{name}.desktop" for name in (app.id, app.name) if name and "/" not in name and "\0" not in name]


def explanation(entry, can_start):
    """What the tooltip of an app says."""
    parts = [entry.label]
    if entry.app.status == "failed":
        parts.append(f"Its icon could not be downloaded ({clean(entry.app.error or 'unknown error')}).")
    elif entry.app.status == "pending":
        parts.append("Its icon has not been downloaded yet.")
    if not can_start:
        parts.append(NOT_INSTALLED)
    return "\n".join(parts)
