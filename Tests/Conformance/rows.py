# SPDX-License-Identifier: Apache-2.0
"""The rows of the suite: what happens to a cache folder, and what a reader has to answer."""
import json, os, shutil, socket, subprocess, threading, time

from cache import (
    Cache, digest, document_text, failed, image_path, manifest_text, pending, quoted, ready, rendered, size_path,
    summary, url_path)

MAIL, MAPS, GONE = (f"https://example.com/{name}.png" for name in ("mail", "maps", "gone"))
ODD = 'https://example.com/ü?a="b c"&%25\\'
LIST = "apps.plist"
ROWS = []


class Wrong(Exception):
    """The reader's answer is not the expected one."""


def row(title, *needs):
    """Registers a row, for readers that can do what it needs."""
    def register(body):
        ROWS.append((body.__name__.replace("_", "-"), title, set(needs), body))
        return body
    return register


def expect(found, *allowed):
    """The answer is one of those."""
    if found not in allowed:
        raise Wrong(f"expected {shown(allowed[0])}, found {shown(found)}")


def error(*codes):
    return [{"error": code} for code in codes]


def shown(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 600 else text[:300] + " … " + text[-300:]


def absolute(app, folder):
    found = {**app, **({"path": os.path.join(folder, app["path"])} if "path" in app else {})}
    if "renditions" in app:
        found["renditions"] = {size: absolute(rendition, folder) for size, rendition in app["renditions"].items()}
    return found


class Stage:
    """A cache folder in a temporary one, and the reader that is looking at it."""

    def __init__(self, work, start):
        self.work, self.start = work, start
        self.folder = os.path.join(work, "cache")
        self._cache = self._reader = None

    @property
    def cache(self):
        self._cache = self._cache or Cache(self.folder)
        return self._cache

    @property
    def reader(self):
        self._reader = self._reader or self.start(self.folder)
        return self._reader

    def ask(self, question, **members):
        return self.reader.ask(question, **members)

    def apps(self, name=LIST):
        return self.ask("apps", list=name)

    def expect_apps(self, apps, name=LIST, folder=None):
        """These are the entries; a reader that knows no renditions shows none."""
        wanted = [absolute(app, folder or self.folder) for app in apps]
        for app in wanted:
            if "renditions" not in self.reader.can:
                app.pop("renditions", None)
        expect(self.apps(name), {"apps": wanted})

    def end(self):
        if self._reader:
            self._reader.end()


# What is there

@row("the image of a URL", "read")
def by_url(stage):
    data = "data:image/png;base64," + "A" * 65000
    stage.cache.publish(
        {LIST: [ready(MAIL, "mail"), ready(ODD, "odd"), ready(data, "data"), pending(MAPS)]},
        [("mail", MAIL), ("odd", ODD), ("data", data)])
    for url, contents in ((MAIL, "mail"), (ODD, "odd"), (data, "data")):
        expect(stage.ask("path", url=url), {"path": stage.cache.at(url_path(url))})
        expect(stage.ask("read", url=url), {"sha256": digest(contents)})
    for url in (MAPS, "https://EXAMPLE.com/mail.png", ""):
        expect(stage.ask("path", url=url), {"path": None})
        expect(stage.ask("read", url=url), {"sha256": None})
    # A refresh is seen at once.
    stage.cache.publish({LIST: [ready(MAIL, "mail 2")]}, [("mail 2", MAIL)])
    expect(stage.ask("read", url=MAIL), {"sha256": digest("mail 2")})


@row("the lists, by the bytes of their names", "lists")
def lists(stage):
    names = ["é.plist", "a b.plist", "pins", "Z.plist", "\U0001f600.plist", "\uffee.plist", 'quo"te\\.plist']
    found = {name: [ready(MAIL, "mail"), pending(MAPS), failed(GONE), failed(ODD)][:len(name)] for name in names}
    stage.cache.publish(found, [("mail", MAIL)])
    counts = [
        {"name": name, **{key: summary("", found[name])[key] for key in ("apps", "ready", "pending", "failed")}}
        for name in sorted(names, key=lambda name: name.encode())]
    expect(stage.ask("lists"), {"generation": 1, "lists": counts})
    stage.cache.publish({})
    expect(stage.ask("lists"), {"generation": 2, "lists": []})


@row("every state of an entry", "apps")
def states(stage):
    apps = [
        ready(MAIL, "mail", name="Mail", id="com.example.mail", download="1.2M", expected=digest("mail")),
        pending(MAPS, name="Maps"), failed(GONE, "http-404", name='"ü\\\n\t\u0001\U0001f600'),
        ready(ODD, "odd"), pending("data:,x"), failed(MAIL + "?", "auth-refused", id="", name="")]
    stage.cache.publish({LIST: apps, "empty.plist": []}, [("mail", MAIL), ("odd", ODD)])
    stage.expect_apps(apps)
    stage.expect_apps([], "empty.plist")
    expect(stage.apps("other.plist"), {"apps": None})


@row("previous images", "apps")
def previous(stage):
    since = "2026-11-20T01:02:03Z"
    apps = [
        ready(MAIL + "?2", "mail", name="Mail", previous=MAIL + "?1", previousSince=since, error="http-503"),
        ready(MAPS, "maps", previous=MAPS + "?1", previousSince=since), ready(ODD, "odd", previous=MAPS)]
    stage.cache.publish({LIST: apps}, [("mail", MAIL + "?2"), ("maps", None), ("odd", None)])
    stage.expect_apps(apps)


@row("the entry that counts for a URL", "entry")
def entry(stage):
    own, other = ready(MAIL, "mail"), ready(MAIL, "old", previous=MAPS)
    cases = [
        ([pending(MAIL)], [failed(MAIL)], pending(MAIL)), ([failed(MAIL)], [other], other), ([other], [own], own),
        ([pending(MAIL), own], [other], own), ([own], [ready(MAIL, "mail", name="B")], own),
        ([pending(MAPS)], [pending(ODD)], None), ([pending(MAIL, name=f'"icon": "{MAPS}"')], [], "first")]
    for first, second, wanted in cases:
        stage.cache.publish(
            {"b.plist": second, "a.plist": first}, [("mail", None), ("old", None)])
        wanted = first[0] if wanted == "first" else wanted
        expect(stage.ask("entry", url=MAIL), {"app": wanted and absolute(wanted, stage.folder)})
    expect(stage.ask("entry", url=MAPS), {"app": None})
    # A later version's key, and another layout.
    apps = [{**pending(MAPS), "banner": {"icon": MAIL}}, own]
    text = document_text(LIST, apps)
    for text in (text, text.replace("\n", ""), json.dumps(json.loads(text), indent=1), text.replace("/", "\\/")):
        stage.cache.publish_document(text)
        expect(stage.ask("entry", url=MAIL), {"app": absolute(own, stage.folder)})


@row("images are read by way of their entries", "open")
def images(stage):
    stage.cache.publish(
        {LIST: [pending(MAPS), ready(MAIL, "mail"), ready(ODD, "odd", previous=MAIL)]}, [("mail", None), ("odd", None)])
    for index, wanted in enumerate((None, digest("mail"), digest("odd"))):
        expect(stage.ask("open", list=LIST, index=index), {"sha256": wanted})


@row("the image of an entry for a number of pixels", "renditions", "apps", "open")
def renditions(stage):
    def made(name, *sizes, **members):
        return rendered({size: f"{name} {size}" for size in sizes}, **members)

    since = "2026-11-20T01:02:03Z"
    # What counts is the size, and not the width that a narrow picture has.
    apps = [
        ready(MAIL, "mail", renditions=made("mail", "48", "100", "64@2", "256", width=20, height=1024)),
        ready(MAPS, "maps", previous=GONE, previousSince=since, error="http-503",
              renditions=made("maps", "8", "1024@4")),
        # In another order, with two sizes of the same pixels, and with a size that looks larger than it is.
        ready(ODD, "odd", renditions=made("odd", "200", "50@4", "1000", "9@2", "20@3", "33")),
        ready(MAIL + "?1", "one", renditions=made("one", "1024")), ready(MAIL + "?2", "two"), pending(GONE)]
    contents = [f"{word} {size}" for word in ("mail", "maps", "odd", "one") for size in
                ("48", "100", "64@2", "256", "8", "1024@4", "200", "50@4", "1000", "9@2", "20@3", "33", "1024")]
    images = [(name, None) for name in ("mail", "maps", "odd", "one", "two", *contents)]
    stage.cache.publish({LIST: apps}, images)
    stage.expect_apps(apps)
    for index, name, pairs in (
            (0, "mail", ((1, "48"), (48, "48"), (49, "100"), (100, "100"), (101, "64@2"), (128, "64@2"), (129, "256"),
                         (256, "256"), (257, None), (1 << 31, None), (None, None))),
            (1, "maps", ((8, "8"), (9, "1024@4"), (4096, "1024@4"), (4097, None), (None, None))),
            (2, "odd", ((1, "9@2"), (18, "9@2"), (19, "33"), (34, "20@3"), (61, "200"), (200, "200"), (201, "1000"),
                        (1001, None))),
            (3, "one", ((1, "1024"), (1025, None))), (4, "two", ((1, None), (64, None)))):
        for size, chosen in pairs:
            wanted = {"sha256": digest(f"{name} {chosen}" if chosen else name)}
            found = stage.ask("open", list=LIST, index=index, **({"size": size} if size else {}))
            if found != wanted:
                raise Wrong(f"{size} pixels of {name}, not the rendition {chosen}: {shown(found)}")
    expect(stage.ask("open", list=LIST, index=5, size=64), {"sha256": None})
    if "entry" in stage.reader.can:
        expect(stage.ask("entry", url=MAIL), {"app": absolute(apps[0], stage.folder)})
    # None at all, in other spellings, and keys that are not known.
    text = document_text(LIST, [ready(MAIL, "mail", renditions=made("mail", "48", later=[{"48": -1}])), pending(MAPS)])
    for old, new, wanted in (
            ("", "", made("mail", "48")), ('"bytes": 7', '"bytes": 7.0', made("mail", "48")),
            ('"renditions": {', '"renditions": null, "later": {', None),
            ('"renditions": {', '"renditions": {}, "later": {', None)):
        stage.cache.publish_document(text.replace(old, new))
        stage.expect_apps([ready(MAIL, "mail", **({"renditions": wanted} if wanted else {})), pending(MAPS)])


@row("the image of a URL for a number of pixels", "renditions", "read")
def by_size(stage):
    stage.cache.publish(
        {LIST: [ready(MAIL, "mail"), ready(MAPS, "maps"), ready(ODD, "odd"), pending(GONE)]},
        [("mail", MAIL), ("maps", MAPS), ("odd", ODD)])

    def expect_choice(url, size, wanted, contents):
        name = size_path(url, wanted) if wanted else url_path(url)
        expect(stage.ask("path", url=url, size=size), {"path": stage.cache.at(name)})
        expect(stage.ask("read", url=url, size=size), {"sha256": digest(contents)})

    # There is no by-size/ yet.
    expect_choice(MAIL, 64, None, "mail")
    expect(stage.ask("path", url=GONE, size=64), {"path": None})
    for url, name, sizes in ((MAIL, "mail", ("48", "100", "64@2", "9@2")), (MAPS, "maps", ("64@2", "1024@4", "33"))):
        for size in sizes:
            stage.cache.rendition(f"{name} {size}", url, size)
    # Names that are no sizes, and a size without a folder.
    for name in ("7", "1025", "0064", "064", "64@", "64@1", "64@5", "64@02", "64@2@2", "64x64", "64.png", "+64", " 64",
                 "64 ", "\u0666\u0664", "1e2", "x", ".64", "@2", "64\n"):
        stage.cache.rendition("foreign", MAIL, name)
        stage.cache.rendition("foreign", ODD, name)
    stage.cache.write("by-size/60", "")
    for url, name, pairs in (
            (MAIL, "mail", ((1, "9@2"), (18, "9@2"), (19, "48"), (48, "48"), (49, "100"), (101, "64@2"), (128, "64@2"),
                            (129, None), (5000, None))),
            # It has none of 48 and 100 pixels.
            (MAPS, "maps", ((1, "33"), (34, "64@2"), (50, "64@2"), (129, "1024@4"), (4096, "1024@4"), (4097, None))),
            (ODD, "odd", ((1, None), (64, None)))):
        for size, wanted in pairs:
            expect_choice(url, size, wanted, f"{name} {wanted}" if wanted else name)
    expect(stage.ask("path", url=MAIL), {"path": stage.cache.at(url_path(MAIL))})
    expect(stage.ask("read", url=MAIL), {"sha256": digest("mail")})
    for url in (GONE, "https://EXAMPLE.com/mail.png"):
        expect(stage.ask("path", url=url, size=64), {"path": None})
        expect(stage.ask("read", url=url, size=64), {"sha256": None})
    # Of equal ones, that with the smaller scale. Others are seen at once.
    stage.cache.rendition("mail 128", MAIL, "128")
    expect_choice(MAIL, 101, "128", "mail 128")
    stage.cache.rendition("another", MAIL, "128")
    expect_choice(MAIL, 101, "128", "another")
    os.unlink(stage.cache.at(size_path(MAIL, "128")))
    expect_choice(MAIL, 101, "64@2", "mail 64@2")
    # A rendition that cannot be used gives way to the next one, and the last to the image.
    name, next_name = (stage.cache.at(size_path(MAIL, size)) for size in ("64@2", "256"))
    os.unlink(name)
    for make in (os.mkdir, os.mkfifo, lambda path: os.symlink(path, path)):
        make(name)
        expect_choice(MAIL, 101, None, "mail")
        stage.cache.rendition("mail 256", MAIL, "256")
        expect_choice(MAIL, 101, "256", "mail 256")
        os.unlink(next_name)
        os.rmdir(name) if make == os.mkdir else os.unlink(name)
    os.symlink(os.path.join(stage.work, "outside"), name)
    stage.cache.write("../outside", "secret")
    expect(stage.ask("read", url=MAIL, size=101), {"sha256": digest("mail")})
    shutil.rmtree(stage.cache.at("by-size"))
    expect_choice(MAIL, 101, None, "mail")
    stage.cache.write("by-size", "")
    expect_choice(MAIL, 101, None, "mail")


@row("100,000 apps", "apps")
def large(stage):
    names = [f"App {number}" for number in range(100_000)]
    apps = [ready(f"https://example.com/{name}.png", name, name=name, download="1.2M") for name in names]
    for index in range(0, 100_000, 7):
        apps[index] = pending(apps[index]["icon"], name=names[index])
    stage.cache.publish({LIST: apps})
    stage.expect_apps(apps)


# Leases, and what changes

@row("a lease keeps what its generation names", "hold", "apps", "open")
def lease(stage):
    stage.cache.publish({LIST: [ready(MAIL, "one")]}, [("one", MAIL)])
    expect(stage.ask("hold"), {"generation": 1, "leased": True})
    expect(stage.cache.is_leased(1), True)
    for number in range(2, 5):
        stage.cache.publish({LIST: [ready(MAIL, f"image {number}")]}, [(f"image {number}", MAIL)])
        stage.cache.evict()
    stage.expect_apps([ready(MAIL, "one")])
    expect(stage.ask("open", list=LIST, index=0), {"sha256": digest("one")})
    expect(stage.ask("release"), {})
    expect(stage.cache.is_leased(1), False)
    stage.expect_apps([ready(MAIL, "image 4")])
    stage.cache.evict()
    expect(os.path.exists(stage.cache.at(image_path(digest("one")))), False)
    expect(stage.ask("hold"), {"generation": 4, "leased": True})
    expect(stage.ask("release"), {})


@row("an exclusive lock of another program: no lease, and no waiting", "hold", "apps")
def locked(stage):
    import fcntl
    stage.cache.publish({LIST: [pending(MAIL)]})
    with open(stage.cache.at("manifest.json"), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        expect(stage.ask("hold"), {"generation": 1, "leased": False})
        stage.expect_apps([pending(MAIL)])
    expect(stage.ask("release"), {})


@row("a manifest that is replaced 1,000 times a second, beside an evictor", "apps")
def replaced(stage):
    stage.cache.publish({LIST: [ready(MAIL, "image 0", name="0")]}, [("image 0", MAIL)])
    stop = threading.Event()
    failures = []

    def publish():
        try:
            start, count = time.monotonic(), 0
            while not stop.is_set():
                count += 1
                stage.cache.publish({LIST: [ready(MAIL, f"image {count}", name=str(count))]}, [(f"image {count}", MAIL)])
                if count % 4 == 0:
                    stage.cache.evict()
                time.sleep(max(0, start + count / 1000 - time.monotonic()))
        except Exception as exception:
            failures.append(exception)

    thread = threading.Thread(target=publish)
    stage.reader
    thread.start()
    try:
        last, end = 0, time.monotonic() + 3
        while time.monotonic() < end:
            answer = stage.apps()
            apps = answer.get("apps")
            if not apps or len(apps) != 1:
                raise Wrong(f"an answer without its entry: {shown(answer)}")
            number = int(apps[0]["name"])
            expect(answer, {"apps": [absolute(ready(MAIL, f"image {number}", name=str(number)), stage.folder)]})
            if number < last:
                raise Wrong(f"generation {number} after {last}")
            last = number
            if "read" in stage.reader.can:
                found = stage.ask("read", url=MAIL)["sha256"]
                if found is None:
                    raise Wrong("no image of a URL that always has one")
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


@row("a held generation stays whole meanwhile", "hold", "apps", "open")
def held(stage):
    stop = threading.Event()
    stage.cache.publish({LIST: [ready(MAIL, "image 0")]}, [("image 0", MAIL)])
    failures = []

    def publish():
        try:
            count = 0
            while not stop.is_set():
                count += 1
                stage.cache.publish({LIST: [ready(MAIL, f"image {count}")]}, [(f"image {count}", MAIL)])
                stage.cache.evict()
        except Exception as exception:
            failures.append(exception)

    stage.reader
    thread = threading.Thread(target=publish)
    thread.start()
    try:
        end = time.monotonic() + 2
        while time.monotonic() < end:
            generation = stage.ask("hold")["generation"]
            for _ in range(3):
                apps = [absolute(ready(MAIL, f"image {generation - 1}"), stage.folder)]
                expect(stage.apps(), {"apps": apps})
                expect(stage.ask("open", list=LIST, index=0), {"sha256": apps[0]["sha256"]})
            expect(stage.ask("release"), {})
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


def expect_changes(stage, *wanted):
    """The next changes are these, and there is no other one with them."""
    found, end = [], time.monotonic() + 20
    while len(found) < len(wanted) and time.monotonic() < end:
        answer = stage.ask("changes", seconds=5)
        if "changes" not in answer:
            raise Wrong(f"no changes: {shown(answer)}")
        found += answer["changes"]
    expect(found, [list(change) for change in wanted])


@row("changes: everything at first, then what differs", "watch")
def changes(stage):
    one, two, three = (ready(url, url) for url in (MAIL, MAPS, ODD))
    stage.cache.publish({"b.plist": [one, pending(MAPS)], "a.plist": [three]}, [(MAIL, None), (ODD, None)])
    expect(stage.ask("watch"), {})
    expect_changes(stage, ("listAdded", "a.plist"), ("listAdded", "b.plist"), ("iconReady", ODD, digest(ODD)),
                   ("iconReady", MAIL, digest(MAIL)))
    stage.cache.publish({"b.plist": [one, two], "a.plist": [three]}, [(MAPS, None)])
    expect_changes(stage, ("listChanged", "b.plist"), ("iconReady", MAPS, digest(MAPS)))
    new = ready(MAIL, "another")
    stage.cache.publish({"b.plist": [new, two], "a.plist": [three]}, [("another", None)])
    expect_changes(stage, ("listChanged", "b.plist"), ("iconReplaced", MAIL, digest("another")))
    stage.cache.publish({"b.plist": [two], "c.plist": [two]})
    expect_changes(stage, ("listRemoved", "a.plist"), ("listChanged", "b.plist"), ("listAdded", "c.plist"),
                   ("iconGone", ODD), ("iconGone", MAIL))
    stage.cache.publish({"c.plist": [two]})
    expect_changes(stage, ("listRemoved", "b.plist"))
    expect(stage.ask("changes", seconds=0)["changes"], [])


@row("one icon with different images in two lists", "watch")
def two_images(stage):
    own, no, maps, odd = ready(MAIL, "own"), pending(MAIL), ready(MAPS, "maps"), ready(ODD, "odd")

    def old(contents):
        return ready(MAIL, contents, previous=GONE)

    def publish(**lists):
        images = [(contents, None) for contents in ("own", "maps", "odd", "1", "2", "3", "4", "5")]
        stage.cache.publish({f"{name}.plist": apps for name, apps in lists.items()}, images)

    def expect_news(lists, *icons):
        """Changes of lists, such as "+a -b", then those of icons."""
        kinds = {"+": "listAdded", "*": "listChanged", "-": "listRemoved"}
        expect_changes(stage, *((kinds[word[0]], word[1:] + ".plist") for word in lists.split()), *(
            (kind, url, *map(digest, contents)) for kind, url, *contents in icons))

    publish(a=[old("1")], b=[old("2")])
    expect(stage.ask("watch"), {})
    expect_news("+a +b", ("iconReady", MAIL, "1"))
    # The list that counts goes, and comes back.
    publish(b=[old("2")])
    expect_news("-a", ("iconReplaced", MAIL, "2"))
    publish(a=[old("1")], b=[old("2")])
    expect_news("+a", ("iconReplaced", MAIL, "1"))
    # What another list says is no change.
    publish(a=[old("1")], b=[old("3")])
    expect_news("*b")
    publish(a=[old("1")], b=[no])
    expect_news("*b")
    # Its own image counts in any list.
    publish(a=[old("1")], b=[own])
    expect_news("*b", ("iconReplaced", MAIL, "own"))
    publish(a=[old("4")], b=[own])
    expect_news("*a")
    publish(a=[old("4")], b=[no])
    expect_news("*b", ("iconReplaced", MAIL, "4"))
    # Both change at once, with one change of the icon.
    publish(a=[old("5")], b=[old("1")])
    expect_news("*a *b", ("iconReplaced", MAIL, "5"))
    publish(a=[no], b=[old("5")])
    expect_news("*a *b")
    # In one list, too.
    publish(a=[no, old("2"), own], b=[old("5")])
    expect_news("*a", ("iconReplaced", MAIL, "own"))
    publish(a=[old("2"), old("3")], b=[old("5")])
    expect_news("*a", ("iconReplaced", MAIL, "2"))
    # Images of changed lists, then those that other lists have left, then icons that are gone.
    publish(a=[odd, old("2")], b=[old("5")])
    expect_news("*a", ("iconReady", ODD, "odd"))
    publish(a=[maps], b=[old("5")])
    expect_news("*a", ("iconReady", MAPS, "maps"), ("iconReplaced", MAIL, "5"), ("iconGone", ODD))
    # An icon is at its first place, with the image that counts.
    publish(a=[old("1"), odd], b=[own, maps])
    expect_news("*a *b", ("iconReplaced", MAIL, "own"), ("iconReady", ODD, "odd"))
    publish(c=[old("1"), old("2")])
    expect_news("-a -b +c", ("iconReplaced", MAIL, "1"), ("iconGone", ODD), ("iconGone", MAPS))
    publish()
    expect_news("-c", ("iconGone", MAIL))


@row("a cache that vanishes and comes back", "apps", "read")
def vanished(stage):
    for number in range(3):
        stage.cache.make()
        stage.cache.publish({LIST: [ready(MAIL, f"image {number}")]}, [(f"image {number}", MAIL)])
        stage.expect_apps([ready(MAIL, f"image {number}")])
        expect(stage.ask("read", url=MAIL), {"sha256": digest(f"image {number}")})
        stage.cache.remove()
        expect(stage.apps(), *error("no-cache"))
        expect(stage.ask("read", url=MAIL), *error("no-cache"))
        expect(stage.ask("path", url=MAIL), *error("no-cache"))
    # Another folder takes its place.
    stage.cache.make()
    stage.cache.publish({LIST: [pending(MAIL)]})
    other = Cache(stage.folder + ".other")
    other.publish({LIST: [failed(MAIL)]})
    os.rename(stage.folder, stage.folder + ".old")
    os.rename(stage.folder + ".other", stage.folder)
    stage.expect_apps([failed(MAIL)])


@row("changes of a cache that comes, vanishes and comes back", "watch")
def watched_absence(stage):
    expect(stage.ask("watch"), {})
    expect(stage.ask("changes", seconds=0), {"changes": []})

    def gather(count):
        found, end = [], time.monotonic() + 20
        while len(found) < count and time.monotonic() < end:
            found += stage.ask("changes", seconds=5)["changes"]
        return found

    stage.cache.publish({LIST: [ready(MAIL, "mail")]}, [("mail", None)])
    expect(gather(2), [["listAdded", LIST], ["iconReady", MAIL, digest("mail")]])
    stage.cache.remove()
    expect(stage.ask("changes", seconds=0), {"changes": []})
    stage.cache.make()
    stage.cache.publish({LIST: [ready(MAIL, "mail")], "b.plist": []}, [("mail", None)])
    expect(gather(1), [["listAdded", "b.plist"]])


@row("no descriptor is lost", "apps", "read")
def descriptors(stage):
    stage.cache.publish({LIST: [ready(MAIL, "mail")]}, [("mail", MAIL)])
    stage.cache.rendition("mail 48", MAIL, "48")

    def use():
        stage.expect_apps([ready(MAIL, "mail")])
        expect(stage.ask("read", url=MAIL), {"sha256": digest("mail")})
        expect(stage.ask("read", url=MAPS), {"sha256": None})
        if "renditions" in stage.reader.can:
            expect(stage.ask("read", url=MAIL, size=30), {"sha256": digest("mail 48")})
            expect(stage.ask("read", url=MAIL, size=64), {"sha256": digest("mail")})
        if {"hold", "open"} <= stage.reader.can:
            stage.ask("hold")
            stage.ask("open", list=LIST, index=0)
            stage.ask("release")

    use()
    before = stage.reader.descriptors()
    # The runtime of a reader may open some of its own once, whenever it needs them; a lost one is lost each time.
    for _ in range(2):
        for _ in range(100):
            use()
        stage.cache.publish_document("{")
        for _ in range(100):
            expect(stage.apps(), *error("damaged"))
        after = stage.reader.descriptors()
        if len(after) <= len(before):
            return
        told = f"{len(after)} descriptors, and {len(before)} before: {', '.join(after)}"
        before = after
        stage.cache.publish({LIST: [ready(MAIL, "mail")]}, [("mail", MAIL)])
    raise Wrong(told)


# Places

@row("the default folder", "folder")
def default_folder(stage):
    home, cache = os.path.join(stage.work, "home"), os.path.join(stage.work, "xdg")
    os.makedirs(home)
    system = "/var/cache/syncagent"

    def folder(**environment):
        reader = stage.start(None, environment=environment)
        try:
            return reader.ask("folder")["folder"]
        finally:
            reader.end()

    def wanted(own):
        return system if not os.path.exists(own) and os.path.exists(system) else own

    expect(folder(XDG_CACHE_HOME=cache, HOME=home), wanted(f"{cache}/syncagent"))
    expect(folder(XDG_CACHE_HOME="", HOME=home), wanted(f"{home}/.cache/syncagent"))
    expect(folder(XDG_CACHE_HOME="relative", HOME=home), wanted(f"{home}/.cache/syncagent"))
    os.makedirs(f"{cache}/syncagent")
    expect(folder(XDG_CACHE_HOME=cache, HOME=home), f"{cache}/syncagent")


@row("a relative folder is that of the beginning", "folder", "apps")
def relative_folder(stage):
    stage.cache.publish({LIST: [ready(MAIL, "mail")]}, [("mail", MAIL)])
    reader = stage.start("cache", directory=stage.work)
    try:
        expect(reader.ask("apps", list=LIST), {"apps": [absolute(ready(MAIL, "mail"), stage.folder)]})
    finally:
        reader.end()


@row("no cache, and one without its manifest", "lists")
def no_cache(stage):
    expect(stage.ask("lists"), *error("no-cache"))
    expect(stage.ask("path", url=MAIL), *error("no-cache"))
    stage.cache
    expect(stage.ask("lists"), *error("no-cache"))
    stage.cache.publish({LIST: []})
    expect(stage.ask("path", url=MAIL), {"path": None})
    os.unlink(stage.cache.at("manifest.json"))
    expect(stage.ask("lists"), *error("damaged"))
    expect(stage.ask("path", url=MAIL), *error("damaged"))


@row("a copy, or an export: no generations, no names of URLs", "apps", "open")
def copy(stage):
    apps = [ready(MAIL, "mail", renditions=rendered({"64": "mail 64"})), pending(MAPS)]
    stage.cache.publish({LIST: apps}, [("mail", MAIL), ("mail 64", None)])
    shutil.rmtree(stage.cache.at("generations"))
    # A copy that was made by the commands of the article Copies has names of URLs, but not by sizes.
    for has_names in (True, False):
        stage.expect_apps(apps)
        expect(stage.ask("open", list=LIST, index=0), {"sha256": digest("mail")})
        name = stage.cache.at(url_path(MAIL)) if has_names else None
        expect(stage.ask("path", url=MAIL), {"path": name})
        if "renditions" in stage.reader.can:
            expect(stage.ask("path", url=MAIL, size=64), {"path": name})
            expect(stage.ask("open", list=LIST, index=0, size=64), {"sha256": digest("mail 64")})
            expect(stage.ask("open", list=LIST, index=0, size=65), {"sha256": digest("mail")})
        if has_names:
            shutil.rmtree(stage.cache.at("by-url"))


@row("a read-only folder, which stays as it is", "apps", "read")
def read_only(stage):
    stage.cache.publish({LIST: [ready(MAIL, "mail")]}, [("mail", MAIL)])

    def state():
        return sorted(
            (path, os.lstat(path).st_mtime_ns, os.lstat(path).st_ino)
            for folder, _, files in os.walk(stage.folder) for path in [folder, *(f"{folder}/{name}" for name in files)])

    # Root may write in spite of modes, and may mount.
    bound = os.geteuid() == 0 and subprocess.run(
        ["mount", "--bind", "-o", "ro", stage.folder, stage.folder], stderr=subprocess.DEVNULL).returncode == 0
    folders = [folder for folder, _, _ in os.walk(stage.folder)]
    if not bound:
        for folder in folders:
            os.chmod(folder, 0o555)
    try:
        before = state()
        stage.expect_apps([ready(MAIL, "mail")])
        expect(stage.ask("read", url=MAIL), {"sha256": digest("mail")})
        if "hold" in stage.reader.can:
            expect(stage.ask("hold"), {"generation": 1, "leased": True})
            stage.ask("release")
        expect(state(), before)
    finally:
        if bound:
            subprocess.run(["umount", stage.folder], check=True)
        else:
            for folder in folders:
                os.chmod(folder, 0o755)


# Documents of others

@row("a later format is refused by name", "apps", "lists")
def later_format(stage):
    stage.cache.publish_document(document_text(LIST, []).replace('"format": 1', '"format": 2'))
    expect(stage.apps(), *error("unknown-format"))
    stage.cache.put_manifest(
        '{"format": 2, "generation": 9, "published": "2026-11-21T02:44:52Z", "lists": {"a": {"shards": []}}}')
    expect(stage.apps(), *error("unknown-format"))
    expect(stage.ask("lists"), *error("unknown-format"))


@row("unknown keys", "apps", "lists")
def unknown_keys(stage):
    more = {"shapes": {"64": {"path": "x", "n": [1, -2.5e-3, True, None]}}, "x": "y", "": []}
    app = {**ready(MAIL, "mail"), **more}
    text = document_text(LIST, [app], **{"later": more}).replace('"bytes": 183', '"bytes": 183, "more": [{}]', 1)
    stage.cache.image("mail")
    stage.cache.publish_document(text, **more)
    stage.expect_apps([ready(MAIL, "mail")])
    count = {"name": LIST, "apps": 1, "ready": 1, "pending": 0, "failed": 0}
    expect(stage.ask("lists"), {"generation": 1, "lists": [count]})


@row("any layout: other orders, spaces and escapes", "apps", "lists")
def any_layout(stage):
    apps = [
        ready(MAIL, "mail", name="Ünï \U0001f600/\u2028", renditions=rendered({"48": "mail 48", "64@2": "mail 64@2"})),
        pending(MAPS, name="a\"b\\c"), failed(GONE)]
    root = json.loads(document_text(LIST, apps))

    def turned(value):
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    for text in (
            json.dumps(turned(root)), json.dumps(root, indent="\t \r\n"), json.dumps(turned(root), separators=(",", ":")),
            "\n \t" + json.dumps(turned(root)).replace("/", "\\/") + "\r\n"):
        stage.cache.publish_document(text)
        stage.expect_apps(apps)
    manifest = json.loads(manifest_text(9, {LIST: summary(document_text(LIST, apps), apps)}))
    stage.cache.write(f"lists/{digest(document_text(LIST, apps))}.json", document_text(LIST, apps))
    stage.cache.put_manifest(json.dumps(turned(manifest), indent=3))
    stage.expect_apps(apps)


def damages():
    """Texts of documents that are none, by name."""
    good = document_text(LIST, [ready(MAIL, "mail"), pending(MAPS)])
    yield "cut short", good[:-5]
    yield "cut in an entry", good[:len(good) // 2]
    yield "empty", ""
    yield "something after it", good + "{}"
    yield "no object", "[1, 2]"
    yield "no JSON", "<plist/>"
    yield "no UTF-8", good.encode().replace(b"mail.png", b"\xff\xfe.png")
    yield "half a surrogate", good.replace("mail.png", "\\ud83d.png")
    yield "a control character", good.replace("mail.png", "ma\nil.png")
    yield "no apps", '{"format": 1, "list": "apps.plist"}'
    yield "apps that are none", '{"format": 1, "list": "apps.plist", "apps": {}}'
    yield "an entry without icon", good.replace('"icon": "https://example.com/maps.png", ', "")
    yield "an unknown status", good.replace('"pending"', '"perhaps"')
    yield "a ready entry without image", good.replace('"pending"', '"ready"')
    yield "a number as icon", good.replace('"https://example.com/maps.png"', "3")
    yield "a number as name", good.replace('"status": "pending"', '"name": 3, "status": "pending"')
    yield "another list", good.replace('"list": "apps.plist"', '"list": "other.plist"')
    for value in ("-1", "99999999999999999999", "1e400", "1.5", '"64"', "true", "null"):
        for key in ("bytes", "width"):
            before = f'"{key}": {4 if key == "bytes" else 64}'
            yield f"{key}: {value}", good.replace(before, f'"{key}": {value}')
    for value in ("-1", "-1.0", "99999999999999999999", "1.5", '"183"', "true", "null"):
        yield f"source, bytes: {value}", good.replace('"bytes": 183', f'"bytes": {value}')
    for value in ("99999999999999999999", "1.5", '"64"', "true"):
        yield f"pending, width: {value}", good.replace('"status": "pending"', f'"status": "pending", "width": {value}')
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        # Readers take at most 512 levels.
        deep = opening * 513 + ("" if opening == "[" else "0") + closing * 513
        yield "nesting of " + opening, good.replace('"status": "pending"', f'"status": "pending", "x": {deep}')


@row("damaged documents", "apps")
def damaged(stage):
    stage.cache.image("mail")
    for name, text in damages():
        stage.cache.publish_document(text)
        answer = stage.apps()
        if answer not in error("damaged"):
            raise Wrong(f"{name}: {shown(answer)}")
    # The numbers of an image that is none do no harm.
    for value in ("-4", "-4.0", "4", "null"):
        numbers = f'"bytes": {value}, "width": {value}'
        text = document_text(LIST, [pending(MAIL)]).replace('"pending"', f'"pending", {numbers}')
        stage.cache.publish_document(text)
        stage.expect_apps([pending(MAIL)])
    text = document_text(LIST, [ready(MAIL, "mail")])
    stage.cache.publish_document(text)
    stage.cache.write(f"lists/{digest(text)}.json", text.replace("mail.png", "evil.png"))
    expect(stage.apps(), *error("damaged"))
    os.unlink(stage.cache.at(f"lists/{digest(text)}.json"))
    expect(stage.apps(), *error("damaged", "unreadable"))


def damages_of_renditions(sha256):
    """What must not be in `renditions`, by size: members instead of those of a good one (`...`: none), or a value."""
    for key in ("path", "sha256", "bytes", "width", "height"):
        yield {"64": {key: ...}}
        for value in (None, True, [], {}):
            yield {"64": {key: value}}
    for key in ("bytes", "width", "height"):
        for value in (-1, -1.0, 1.5, 1e300, 99999999999999999999, "64"):
            yield {"64": {key: value}}
    for value in (sha256[1:], sha256.upper(), sha256 + "0", "", 3, digest("x")):
        yield {"64": {"sha256": value}}
    for name in wrong_paths(sha256):
        yield {"64": {"path": name}}
    for name in ("7", "1025", "0064", "064", "64@", "64@1", "64@5", "64@02", "64@2@2", "64x64", "64.0", "+64", "-64",
                 " 64", "64 ", "\u0666\u0664", "1e2", "@2", "", "64\0", "x\n64", "64\n", "9" * 1000):
        yield {name: {}}
        yield {"48": {}, name: {}, "96": {}}
    for value in (None, True, 3, "x", [], [1]):
        yield {"64": value}
    yield {"48": {}, "64@2": {"bytes": -1}, "256": {}}


@row("damaged renditions, and paths that lead out of the folder", "renditions", "apps")
def damaged_renditions(stage):
    good, sha256 = rendered({"64": "mail 64"})["64"], digest("mail 64")
    for contents in ("mail", "mail 64"):
        stage.cache.image(contents)

    def check(found, **members):
        app = ready(MAIL, "mail", **members, renditions=found)
        stage.cache.publish_document(document_text(LIST, [pending(MAPS), app]))
        answer = stage.apps()
        if answer not in error("damaged"):
            raise Wrong(f"renditions {shown(found)}: {shown(answer)}")

    for changes in damages_of_renditions(sha256):
        found = {}
        for size, members in changes.items():
            is_object = isinstance(members, dict)
            found[size] = {**good, **members} if is_object else members
            if is_object:
                found[size] = {key: value for key, value in found[size].items() if value is not ...}
        check(found)
    for found in (True, 3, "64", [], [good]):
        check(found)
    check({"64": {**good, "path": "../secret"}}, previous=GONE)
    stage.cache.publish_document(document_text(LIST, [ready(MAIL, "mail", renditions={"64": good})]))
    stage.expect_apps([ready(MAIL, "mail", renditions={"64": good})])


@row("damaged manifests", "lists")
def damaged_manifests(stage):
    entry = summary(document_text(LIST, []), [])
    good = manifest_text(7, {LIST: entry})
    for name, text in (
            ("cut short", good[:-4]), ("empty", ""), ("no object", "[]"), ("no UTF-8", b"\xff\xfe"),
            ("no generation", good.replace('"generation": 7, ', "")),
            ("a negative generation", good.replace('"generation": 7', '"generation": -7')),
            ("a generation out of range", good.replace('"generation": 7', '"generation": 99999999999999999999')),
            ("a fraction", good.replace('"generation": 7', '"generation": 7.5')),
            ("a count out of range", good.replace('"apps": 0', '"apps": 99999999999999999999')),
            ("a negative count", good.replace('"apps": 0', '"apps": -1')),
            ("no digest", good.replace(entry["sha256"], entry["sha256"][1:])),
            ("no format", good.replace('"format": 1, ', "")), ("lists that are none", '{"format": 1, "lists": []}'),
            ("nesting", good.replace('"format": 1, ', f'"format": 1, "x": {"[" * 513}{"]" * 513}, '))):
        stage.cache.put_manifest(text)
        answer = stage.ask("lists")
        if answer not in error("damaged"):
            raise Wrong(f"{name}: {shown(answer)}")


def wrong_paths(sha256):
    """Paths of another form than that of an image with this digest has."""
    return (
        "../../etc/passwd", "/etc/passwd", "../../x", f"icons/../icons/{sha256[:2]}/{sha256}.png", "",
        f"icons/{sha256[:2]}/{sha256}", f"icons/{sha256[:2]}/{sha256}.", f"icons/{digest('x')[:2]}/{sha256}.png",
        f"icons/{sha256[:2]}/{digest('x')}.png", f"icons/{sha256[:2]}/{sha256}.PNG",
        f"icons/{sha256[:2]}/{sha256}.p/g", f"icons/{sha256[:2]}/{sha256}.{'x' * 17}",
        f"icons/{sha256[:2]}/{sha256}.png/", f"./icons/{sha256[:2]}/{sha256}.png",
        f"icons/{sha256[:2]}/{sha256}.png\0")


@row("paths that lead out of the folder, or are of another form", "apps")
def paths(stage):
    secret = os.path.join(stage.work, "secret")
    text = document_text(LIST, [pending(MAIL)])
    with open(secret, "w") as file:
        file.write(text)
    for name in ("../../etc/passwd", "/etc/passwd", "../secret", secret, "lists/../../secret", "", ".", "lists/",
                 f"lists/{digest(text)}", f"lists/{digest('x')}.json", f"./lists/{digest(text)}.json",
                 f"lists//{digest(text)}.json", f"lists/{digest(text).upper()}.json", f"lists/{digest(text)}.json\0"):
        stage.cache.write(f"lists/{digest(text)}.json", text)
        stage.cache.publish_document(text, path=name)
        answer = stage.apps()
        if answer not in error("damaged"):
            raise Wrong(f"document {name}: {shown(answer)}")
    sha256 = digest("mail")
    stage.cache.image("mail")
    for name in (secret, *wrong_paths(sha256)):
        stage.cache.publish_document(document_text(LIST, [{**ready(MAIL, "mail"), "path": name}]))
        answer = stage.apps()
        if answer not in error("damaged"):
            raise Wrong(f"image {name}: {shown(answer)}")


@row("links that lead out of the folder are not followed", "open", "read")
def links(stage):
    outside = os.path.join(stage.work, "outside")
    os.makedirs(outside)
    path = stage.cache.at(image_path(digest("secret")))

    def refused(answer):
        if answer not in error("damaged", "unreadable"):
            raise Wrong(f"what a link led to: {shown(answer)}")

    with open(f"{outside}/file", "w") as file:
        file.write("secret")
    stage.cache.publish({LIST: [ready(MAIL, "secret")]}, [("secret", MAIL)])
    for target in (f"{outside}/file", "../../../outside/file"):
        for name in (path, stage.cache.at(url_path(MAIL))):
            os.unlink(name)
            os.symlink(target, name)
        refused(stage.ask("open", list=LIST, index=0))
        refused(stage.ask("read", url=MAIL))
    if "renditions" in stage.reader.can:
        linked_renditions(stage, outside, refused)
    # A folder of images elsewhere.
    shutil.rmtree(stage.cache.at("icons"))
    os.makedirs(f"{outside}/icons/{digest('secret')[:2]}")
    os.rename(f"{outside}/file", f"{outside}/{image_path(digest('secret'))}")
    os.symlink(f"{outside}/icons", stage.cache.at("icons"))
    refused(stage.ask("open", list=LIST, index=0))
    # The folder itself may be a link.
    os.unlink(stage.cache.at("icons"))
    os.rename(f"{outside}/icons", stage.cache.at("icons"))
    os.rename(stage.folder, f"{outside}/cache")
    os.symlink(f"{outside}/cache", stage.folder)
    expect(stage.ask("open", list=LIST, index=0), {"sha256": digest("secret")})


def linked_renditions(stage, outside, refused):
    stage.cache.image("secret 64")
    app = ready(MAIL, "secret", renditions=rendered({"64": "secret 64"}))
    stage.cache.publish({LIST: [app]})
    for target in (f"{outside}/file", "../../../../outside/file"):
        for name in (image_path(digest("secret 64")), size_path(MAIL, "64")):
            path = stage.cache.at(name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.lexists(path):
                os.unlink(path)
            # That in icons/ is one folder less deep.
            os.symlink(target.removeprefix("../") if name.startswith("icons") else target, path)
        refused(stage.ask("open", list=LIST, index=0, size=64))
        refused(stage.ask("read", url=MAIL, size=64))
    # A folder of sizes elsewhere.
    os.unlink(stage.cache.at(size_path(MAIL, "64")))
    elsewhere = f"{outside}/{size_path(MAIL, '64')}"
    os.makedirs(os.path.dirname(elsewhere))
    os.link(f"{outside}/file", elsewhere)
    shutil.rmtree(stage.cache.at("by-size"))
    os.symlink(f"{outside}/by-size", stage.cache.at("by-size"))
    refused(stage.ask("read", url=MAIL, size=64))


@row("pipes, sockets and folders in place of files", "apps", "open", "read", "lists")
def special_files(stage):
    apps = [ready(MAIL, "mail", renditions=rendered({"64": "mail 64"}))]
    stage.cache.publish({LIST: apps}, [("mail", MAIL)])
    stage.cache.image("mail 64")
    text = document_text(LIST, apps)
    questions = [
        (image_path(digest("mail")), dict(question="open", list=LIST, index=0)),
        (url_path(MAIL), dict(question="read", url=MAIL)),
        (f"lists/{digest(text)}.json", dict(question="apps", list=LIST)), ("manifest.json", dict(question="lists"))]
    if "renditions" in stage.reader.can:
        questions.append((image_path(digest("mail 64")), dict(question="open", list=LIST, index=0, size=64)))

    def bound(path):
        # The path of a socket has at most 107 bytes.
        folder = os.open(os.path.dirname(path), os.O_PATH)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        os.close(folder)

    for make in (os.mkfifo, bound, os.mkdir):
        for name, question in questions:
            path = stage.cache.at(name)
            os.rename(path, path + ".away")
            make(path)
            answer = stage.ask(**question)
            if answer not in error("damaged", "unreadable"):
                raise Wrong(f"{make.__name__} {name}: {shown(answer)}")
            os.rmdir(path) if make == os.mkdir else os.unlink(path)
            os.rename(path + ".away", path)
    stage.expect_apps(apps)
