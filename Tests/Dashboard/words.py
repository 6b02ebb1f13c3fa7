# SPDX-License-Identifier: Apache-2.0
"""What the dashboard says, asked of a scripted agent."""
import json
import pathlib
import re

from expectations import expect, expect_same, expect_sound, opened
from scripted_agent import ScriptedAgent, event, icons, problem, stamp, status


def new(page):
    """Without lists the page says where they go, and does not say that all is well."""
    page.look(400, "light")
    with ScriptedAgent([], status([], {"level": "ok", "sentence": "There are no app lists: drop one into the lists folder."})) as agent:
        opened(page, agent)
        page.wait("the folder", lambda: page.text("#verdict-text") == "There are no app lists: drop one into /etc/syncagent/lists.d.")
        expect_same("the sign", page.js("return document.getElementById('verdict').dataset.level"), "empty")
        page.wait("the folder to copy", lambda: page.text("#lists-empty code") == "/etc/syncagent/lists.d")
        sample = page.js("return [...document.querySelectorAll('#lists-empty .command code')].at(-1).textContent")
        expect_same("a list to copy", json.loads(sample)[0]["name"], "Swift")
        expect_sound(page)


def times(page):
    """Times are told in one form, with the exact ones in the titles."""
    page.look(1400, "light")
    own = icons(1)
    texts = {"no request until {}, as it asked": (7100, "No request for another 2 hours, as it asked."),
             "stale since {}, but used": (-7300, "Stale for 2 hours, but used."),
             "held until {}": (-7300, "Held until 2 hours ago."), "retry at {}": (7100, "Retry in 2 hours.")}
    shown = [problem(f"code-{number}", "trouble", text.format(stamp(seconds)))
             for number, (text, (seconds, _)) in enumerate(texts.items())]
    news = [event(1, "icon-failed", f"Not downloaded: no answer. The next attempt is at {stamp(60)}.", url=own[0]["url"]),
            event(2, "icon-stale", f"Not refreshed: no answer. The next attempt is at {stamp(60)}. The image on disk stays.")]
    with ScriptedAgent(own, status(own, {"level": "problem", "sentence": "4 problems:"}, shown), news) as agent:
        opened(page, agent)
        page.click("[data-code='code-3'] button")
        for number, (_, wanted) in enumerate(texts.values()):
            expect_same("a time", page.text(f"[data-code='code-{number}'] .detail"), wanted)
        page.wait("the events", lambda: page.count(".event") == 2)
        expect_same("what they say", page.js("return [...document.querySelectorAll('.event p > bdi')].map(e => e.textContent)"),
                    ["Not refreshed: no answer. The image on disk stays.", "Not downloaded: no answer."])
        expect_same("exact times", page.js("return [...document.querySelectorAll('.detail time')].every(e => e.title)"), True)
        page.js("const e = document.querySelector('.detail time'); e.dateTime = new Date(Date.now() + 3_590_000).toISOString()")
        page.wait("the time goes on", lambda: page.text(".detail time") == "for another 60 minutes")


def many(page):
    """Three problems are shown whole, and each of the others in one line until somebody asks."""
    page.look(1400, "light")
    own = icons(1)
    shown = [problem(f"code-{number}", "trouble", f"detail {number}", [f"syncagent why {number}"]) for number in range(5)]
    with ScriptedAgent(own, status(own, {"level": "problem", "sentence": "5 problems:"}, shown)) as agent:
        opened(page, agent)
        whole = "return [...document.querySelectorAll('.problem .detail')].map(e => e.textContent)"
        expect_same("at first", page.js(whole), ["Detail 0.", "Detail 1.", "Detail 2."])
        page.click("[data-code='code-4'] button")
        expect_same("the one that was asked for", page.js(whole), ["Detail 0.", "Detail 1.", "Detail 2.", "Detail 4."])
        expect_sound(page)
        agent.change(status(own, {"level": "problem", "sentence": "5 problems:"}, [*shown[:3], *shown[4:], shown[3]]))
        page.wait("the new order", lambda: page.js("return [...document.querySelectorAll('.problem')].map(e => e.dataset.code)")
                  == ["code-0", "code-1", "code-2", "code-4", "code-3"])
        expect_same("what was opened stays so", page.js(whole), ["Detail 0.", "Detail 1.", "Detail 2.", "Detail 4."])


def stale(page):
    """The icons that could not be refreshed are those of the problem, and can be shown."""
    page.look(1400, "light")
    own = icons(200)
    trouble = status(own, None, [problem("stale", "4 icons could not be refreshed", severity="notice", count=4)], icons={"stale": 4})
    with ScriptedAgent(own, trouble) as agent:
        opened(page, agent)
        page.click(".problem[data-code='stale'] .actions button")
        page.wait("those that are stale", lambda: page.text("#icons-count") == "4 of 200 icons")
        expect_same("dots", page.count(".cell .flag"), 4)
        expect_same("the filter", page.text("#states [aria-pressed='true']"), "Stale4")
        expect_sound(page)


def hostile(page):
    """Names and messages are text, whatever is in them."""
    page.look(1400, "light")
    own = icons(6, failed=["<b>x</b>"])
    nasty = '<img src=x onerror="document.title=1">'
    own[0]["names"] = [nasty]
    own[1]["names"] = ["\u202egnp.exe"]
    own[2]["names"] = ["A" * 400]
    own[3]["url"] = "https://user:secret@h.example/x.png?key=secret"
    own[3]["names"] = []
    trouble = status(own, {"level": "problem", "sentence": nasty}, [problem(nasty, nasty, nasty, [nasty])])
    trouble["lists"][0].update(name=nasty, state="rejected", error=nasty)
    with ScriptedAgent(own, trouble, [event(1, nasty, nasty)]) as agent:
        opened(page, agent)
        expect_same("the name", page.text(".cell .name"), nasty)
        expect_same("pictures of names", page.count("img[src='x']"), 0)
        page.js("document.querySelectorAll('.cell')[3].click()")
        page.wait("details", lambda: "Next" in (page.text("#details dl") or ""))
        expect("no secrets", "secret" not in page.text("body"))
        expect_sound(page)


def urls(page):
    """URLs are shown as the commands show them."""
    swift = pathlib.Path(__file__).resolve().parents[1] / "AppListsTests/Addresses/LogURLTests.swift"
    text = re.sub(r"\\u\{(\w+)\}", lambda mark: chr(int(mark[1], 16)), swift.read_text())
    table = re.findall(r'\("(.*?)", "(.*?)"\)', text)
    expect("the table of the commands", len(table) > 20)
    table += [
        ("https://user:p@SECRET@host/x", "https://…@host/x"), ("https://user:pa/SECRET@host/x", "…"),
        ("https://user\\SECRET@host/x", "…"), ("https://user:99999/SECRET@host/x", "…"), ("//user:SECRET@host/x", "…"),
        ("http://[::1]:8080/@x", "http://[::1]:8080/@x"), ("https://a.example:/@x y", "https://a.example:/@x y"),
        ("https://a.example/@b/c@1.2.3/d.svg", "https://a.example/@b/c@1.2.3/d.svg"),
        ("https://exämple/@x", "…"), ("https://a.example:٣/@x", "…"), ("DATA:,SECRET", "DATA:,… (12 bytes)")]
    with ScriptedAgent([], status([])) as agent:
        opened(page, agent)
        shown = page.driver.execute_async_script("""const [urls, done] = arguments;
            import('/text.js').then(({ shownURL }) => done(urls.map(shownURL)))""", [url for url, _ in table])
    for (url, wanted), found in zip(table, shown):
        expect_same(url, found, wanted)


WORDS = (urls, new, times, many, stale, hostile)
