# SPDX-License-Identifier: Apache-2.0
"""What the dashboard is looked at with: sizes, and each kind of trouble."""
import dataclasses
import typing

from scripted_agent import event, icons, problem, stamp, status

LIST = "https://icons.example.com/00059/Maps.png"


@dataclasses.dataclass
class Scene:
    icons: list
    status: dict
    events: list = dataclasses.field(default_factory=list)
    then: typing.Callable | None = None


def trouble(own, sentence, *problems, level="problem", **changes):
    return Scene(own, status(own, {"level": level, "sentence": sentence}, problems, **changes), EVENTS)


EVENTS = [event(number, kind, message, -100 * (12 - number), **about) for number, (kind, message, about) in enumerate([
    ("agent-started", "syncagent 1.0.0 started.", {}),
    ("list-accepted", "Accepted: 50 apps.", {"list": "apps-01.plist"}),
    ("icon-ready", "Downloaded: 2,000 bytes.", {"url": icons(1)[0]["url"]}),
    ("icon-changed", "Replaced by a new image: 2,007 bytes.", {"url": icons(2)[1]["url"]}),
    ("icon-failed", "Not downloaded: the server answered 404 Not Found.", {"url": LIST, "code": "http-404"}),
    ("generation-published", "Generation 42 is published.", {"generation": 42}),
    ("list-kept", "Rejected: the tag <dict> is not closed. The last good version stays in force.",
     {"list": "apps-02.plist", "code": "not-a-property-list"}),
    ("paused", "Downloads are paused.", {}), ("resumed", "Downloads are resumed.", {})], 1)]


def details(page, agent):
    page.js("document.querySelectorAll('.cell')[2].click()")
    page.wait("the details", lambda: "Next" in (page.text("#details dl") or ""))
    page.wait("its image", lambda: page.js("return document.querySelector('#details img').complete"))


def failed_details(page, agent):
    page.click("#states [data-state='failed']")
    page.wait("those that failed", lambda: page.count(".cell") == 5)
    page.js("document.querySelectorAll('.cell')[0].click()")
    page.wait("the details", lambda: "Next" in (page.text("#details dl") or ""))


def middle(page, agent):
    page.js("document.getElementById('icons').scrollTop = 40000")
    page.wait("the images in sight", lambda: page.js(
        "return [...document.querySelectorAll('.cell img')].every(i => i.complete)"))


def crowded():
    """Much of everything, and all of it long."""
    own = icons(10_000, failed=["http-404"] * 1234 + ["no-image"] * 1111, pending=2345, lists=30)
    for icon in own[1::7]:
        icon["names"] = ["Enterprise Resource Planning Companion for Regional Warehouses", *icon["names"]]
    for icon in own[2:900:3]:
        icon.update(state="retired", lists=[])
    own[0]["url"] = "https://" + "icons." * 20 + "example.com/" + "path/" * 60 + "Mail.png"
    rename = lambda name: f"com.example.enterprise.catalog.of.applications.for.{name}"
    for icon in own:
        icon["lists"] = [rename(name) for name in icon["lists"]]
    scene = trouble(
        own, "12 problems:", problem(
            "http-404", "1,234 icons failed", "the server answered 404 Not Found", [f"syncagent why '{own[0]['url']}'"]),
        problem("proxy", "1,111 icons failed", "the proxy http://proxy.internal.example.com:3128 answered 407 Proxy "
                "Authentication Required: " + "negotiate " * 12, ["syncagent config", "syncagent retry --failed"]),
        *[problem(f"a-code-that-is-rather-long-{number}", "something else is wrong", "x" * 90) for number in range(10)],
        icons={"retired": 300})
    scene.status["lists"][0].update(state="last-good", error="line 3: " + "the tag is not closed, " * 8)
    scene.then = lambda page, agent: page.js("document.querySelector('.panel.icons').scrollIntoView()")
    return scene


def stale(own):
    own = [dict(icon) for icon in own]
    count = sum(icon["stale"] is not None for icon in own)
    return trouble(own, f"All {len(own)} icons are up to date.", problem(
        "stale", f"{count} icons could not be refreshed; the old image stays", severity="notice", count=count),
        level="ok", icons={"stale": count})


def crowded_details(page, agent):
    page.js("document.querySelector('.cell').click()")
    page.wait("the details", lambda: "Next" in (page.text("#details dl") or ""))


def gone(page, agent):
    agent.__exit__()
    page.wait("nobody answers", lambda: page.text("#verdict-text") == "The agent does not respond.")
    page.messages()


def scenes():
    none, three, some, many = icons(0), icons(3), icons(60, lists=4), icons(200, lists=4)
    mixed = icons(60, failed=["http-404"] * 3 + ["dns"] * 2, pending=6, lists=4)
    blank = icons(60, pending=41, lists=4)
    large = icons(10_000, lists=14)
    failing = trouble(
        mixed, "2 problems:",
        problem("http-404", "3 icons failed", "the server answered 404 Not Found", [f"syncagent why {LIST}"], count=3),
        problem("dns", "2 icons failed", "the host name icons.example.com cannot be resolved",
                ["syncagent why https://icons.example.com/00056/Photos.png"], count=2),
        problem("watch-polling", "the lists folder is polled: changes are noticed within about 2 s",
                "overlayfs reports no changes", severity="notice"))
    lists = trouble(
        some, "2 problems:",
        problem("not-a-property-list", "1 list is not accepted; its last good version stays in force",
                "line 3: the tag <dict> is not closed", ["syncagent list apps-02.plist"]),
        problem("empty-file", "1 list is not accepted", "the file is empty", ["syncagent list apps-03.plist"]))
    lists.status["lists"][1].update(state="last-good", error="line 3: the tag <dict> is not closed")
    lists.status["lists"][2].update(state="rejected", error="the file is empty", apps=0, ready=0)
    return {
        "empty": trouble(none, "There are no app lists: drop one into the lists folder.", level="ok"),
        "three": Scene(three, status(three), EVENTS[:3]),
        "many": Scene(many, status(many), EVENTS),
        "large": Scene(large, status(large), EVENTS, middle),
        "details": Scene(many, status(many), EVENTS, details),
        "failing": failing,
        "failed-details": dataclasses.replace(failing, then=failed_details),
        "busy": trouble(blank, "Downloading: 41 of 60 icons to go.", level="busy", inSync=False,
                        downloads={"active": 32, "queued": 9}),
        "paused": trouble(
            blank, "PAUSED: 41 icons wait.", problem("paused", "downloads are paused: 41 icons wait", commands=[
                "syncagent resume"], count=41), state="paused"),
        "disk-full": trouble(
            blank, "DISK FULL: 41 icons wait.", problem(
                "disk-full", "there is no room for new images: 41 icons wait",
                "/var/cache/syncagent has 12 MiB left, and 5 % (1.2 GiB) stay free (cache.minFree)",
                ["df -h /var/cache/syncagent", "syncagent evict --dry-run"], count=41)),
        "held": trouble(
            some, "EVICTION HELD: a change of the lists retired most images.", problem(
                "eviction-held", "45 of 60 images were retired; they stay until somebody confirms it",
                f"held until {stamp(80_000)}", ["syncagent evict --dry-run", "syncagent evict --confirm"]),
            eviction={"state": "held", "reason": "45 of 60 images were retired"}, icons={"retired": 45}),
        "suspended": trouble(
            some, "EVICTION SUSPENDED: it is unknown what the lists name.", problem(
                "eviction-suspended", "nothing is evicted", "/etc/syncagent/lists.d: Permission denied",
                ["ls -ld /etc/syncagent/lists.d"]),
            eviction={"state": "suspended", "reason": "/etc/syncagent/lists.d: Permission denied"}),
        "unpublished": trouble(
            some, "CACHE NOT WRITABLE: the newest state cannot be published.", problem(
                "publication-failed", "the cache cannot be written", "cannot write /var/cache/syncagent: Read-only file system"),
            publication={"error": "cannot write /var/cache/syncagent: Read-only file system"}),
        "lists": lists,
        "stale": stale(many),
        "waiting": trouble(
            blank, "41 icons wait for a server that failed or asked to wait [origin-waiting].", problem(
                "origin-waiting", "41 icons wait for a server that failed or asked to wait",
                f"no request to https://icons.example.com until {stamp(7_100)}", ["syncagent retry --failed"],
                count=41)),
        "crowded": crowded(),
        "crowded-details": dataclasses.replace(crowded(), then=crowded_details),
        "gone": Scene(some, status(some), EVENTS, gone),
    }
