# SPDX-License-Identifier: Apache-2.0
"""What is done with the dashboard, asked of a scripted agent."""
import re

from expectations import expect, expect_same, expect_sound, opened
from scripted_agent import ScriptedAgent, event, icons, problem, status

SCROLL = """
    const done = arguments[0], box = document.getElementById('icons');
    const bottom = box.scrollHeight - box.clientHeight, frames = [], empty = [], tasks = [];
    new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => entry.duration)))
      .observe({type: 'longtask'});
    let last = performance.now(), step = 0;
    function frame(now) {
      frames.push(now - last); last = now;
      // What was drawn last covers what is in sight.
      const own = box.getBoundingClientRect(), height = Math.min(own.bottom, innerHeight) - own.top;
      for (const y of [0.1, 0.5, 0.9]) {
        const at = document.elementFromPoint(own.left + own.width * 0.47, own.top + height * y);
        if (!at?.closest('.cell')) empty.push(box.scrollTop);
      }
      if (step++ === 240) {
        const all = document.querySelectorAll('.cell').length;
        return done({frames: frames.sort((a, b) => a - b), tasks, empty, all, top: box.scrollTop, bottom});
      }
      // Three times down by what a wheel turns, and once in leaps over the whole wall.
      box.scrollTop = step < 180 ? step * 240 % bottom : bottom * (step - 180) / 60;
      requestAnimationFrame(frame);
    }
    requestAnimationFrame(frame);"""


def scrolled(page, count):
    """Scrolls over so many icons; says what was seen, and how long a frame kept the processor, in milliseconds."""
    own = icons(count, lists=12)
    with ScriptedAgent(own, status(own)) as agent:
        opened(page, agent)
        expect("few elements", page.count(".cell") < 300)
        before = page.busy()
        result = page.driver.execute_async_script(SCROLL)
        return result, (page.busy() - before) / len(result["frames"])


def virtual(page):
    """10,000 icons: few elements, no empty sight, and no more work for a frame than with 1,000."""
    page.look(1400, "light")
    _, little = scrolled(page, 1_000)
    result, work = scrolled(page, 10_000)
    frames = result["frames"]
    print(f"    frames: {work:.1f} ms of processor time, {little:.1f} ms with 1,000 icons; "
          f"median {frames[len(frames) // 2]:.1f} ms, 95 % {frames[len(frames) * 95 // 100]:.1f} ms, "
          f"longest {frames[-1]:.1f} ms; tasks over 100 ms: {sum(t > 100 for t in result['tasks'])}; {result['all']} elements at the end")
    expect_same("at the bottom", result["top"], result["bottom"])
    expect("few elements after scrolling", result["all"] < 400)
    # Two frames of a scroll are drawn before the cells of a leap are there.
    expect(f"cells in sight: {result['empty']}", len(result["empty"]) <= 6)
    # Frames and tasks also wait for other programs: what counts is the page's own work.
    expect(f"a frame takes no more work than with fewer icons: {work:.1f} ms, {little:.1f} ms", work <= 5 * max(little, 1))


def keyboard(page):
    page.look(1400, "light")
    own = icons(200, failed=["http-404"])
    with ScriptedAgent(own, status(own)) as agent:
        opened(page, agent)
        page.press("TAB")
        expect_same("the first stop", page.focused(), "skip")
        page.press("ENTER")
        page.wait("the wall has the focus", lambda: page.focused() == "cell")
        index = lambda: page.js("return Number(document.activeElement.dataset.index)")
        columns = page.js("""return new Set([...document.querySelectorAll('.cell')]
            .map(c => Math.round(c.getBoundingClientRect().left))).size""")
        for key, place in (("ARROW_RIGHT", 1), ("ARROW_DOWN", 1 + columns), ("ARROW_LEFT", columns), ("END", 199),
                           ("ARROW_DOWN", 199), ("HOME", 0), ("ARROW_UP", 0), ("ARROW_LEFT", 0)):
            page.press(key)
            expect_same(key, index(), place)
        page.press("PAGE_DOWN")
        expect("a page further", index() > columns)
        place = index()
        visible = page.js("""const a = document.activeElement.getBoundingClientRect(),
            b = document.getElementById('icons').getBoundingClientRect(); return a.top >= b.top && a.bottom <= b.bottom""")
        expect("what has the focus is in sight", visible)
        expect("the focus can be seen", page.js("return getComputedStyle(document.activeElement).outlineStyle") != "none")
        expect_same("one stop of the wall", page.count(".cell[tabindex='0']"), 1)
        page.press("ENTER")
        page.wait("the details", lambda: page.focused() == "details")
        page.wait("what is known", lambda: "Refresh" in (page.text("#details dl") or ""))
        expect_sound(page)
        page.press("ESCAPE")
        expect_same("back in the wall", (page.focused(), index()), ("cell", place))
        expect_same("closed", page.count("#details"), 0)
        page.press("ENTER")
        page.wait("the details", lambda: page.focused() == "details")
        page.press("TAB")
        expect_same("the first stop of the details", page.focused(), "close")
        page.press("ENTER")
        expect_same("back in the wall", (page.focused(), index(), page.count("#details")), ("cell", place, 0))
        # A click leaves the focus in the wall; Escape closes the details all the same.
        page.press("ENTER")
        page.js("document.querySelector('.cell').focus()")
        page.press("ESCAPE")
        expect_same("closed from elsewhere", page.count("#details"), 0)


def stops(page):
    """Each stop of the Tab key can be seen, and the wall is one of them, however many icons it has."""
    page.look(1400, "dark")
    own = icons(200, failed=["http-404"], lists=3)
    own_status = status(own, {"level": "problem", "sentence": "1 problem:"}, [
        problem("http-404", "1 icon failed", commands=["syncagent retry --failed"])])
    with ScriptedAgent(own, own_status, [event(1, "agent-started", "syncagent started")]) as agent:
        opened(page, agent)
        page.wait("the events", lambda: page.count(".event") == 1)
        found = []
        for _ in range(18):
            page.press("TAB")
            found.append(page.js("""const e = document.activeElement, style = getComputedStyle(e);
                const box = e.getBoundingClientRect();
                const isSeen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && box.bottom > 0
                  && box.top < innerHeight;
                return (e.id || e.className || e.textContent.trim()) + (isSeen ? '' : ' unseen')"""))
        expect_same("the stops", found, [
            "skip", "sync", "pause", "plain", "Retry", "Show them", "search", "list-filter", "All200", "Ready199", "Pending0",
            "Failed1", "Stale4", "cell", "list-row", "list-row", "list-row", "events"])


def filters(page):
    page.look(1400, "light")
    own = icons(200, failed=["http-404", "dns"], pending=3, lists=4)
    with ScriptedAgent(own, status(own)) as agent:
        opened(page, agent)
        page.find("#search").send_keys("maps 3")
        page.wait("one icon", lambda: page.text("#icons-count") == "1 of 200 icons")
        page.js("document.getElementById('search').value = ''")
        page.find("#search").send_keys("http-404")
        page.wait("the one that failed so", lambda: page.text("#icons-count") == "1 of 200 icons")
        page.find("#search").send_keys("nothing like it")
        page.wait("none", lambda: page.text("#wall-empty") == "No icon matches. Clear the filters to see all.")
        expect_sound(page)
        page.js("const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input'))")
        page.click("#states [data-state='pending']")
        page.wait("those pending", lambda: page.text("#icons-count") == "3 of 200 icons")
        page.click("#states [data-state='']")
        page.click(".list-row")
        page.wait("those of a list", lambda: page.text("#icons-count") == "50 of 200 icons")
        expect_same("the list", page.js("return document.getElementById('list-filter').value"), "apps-01.plist")


def live(page):
    page.look(1400, "light")
    own = icons(30, pending=10)
    busy = status(own, {"level": "busy", "sentence": "Downloading: 10 of 30 icons to go."})
    with ScriptedAgent(own, busy, [event(1, "agent-started", "syncagent started")]) as agent:
        opened(page, agent)
        expect_same("busy", page.text("#verdict-text"), "Downloading: 10 of 30 icons to go.")
        later = [icon for icon in own if icon["state"] == "pending"]
        news = []
        for number, icon in enumerate(later, 2):
            made = icons(30)[own.index(icon)]
            icon.update(state="ready", path=made["path"], sha256=made["sha256"], bytes=9)
            agent.by_path["/" + made["path"]] = number
            news.append(event(number, "icon-ready", f"The icon of {icon['names'][0]} is ready", url=icon["url"]))
        agent.change(status(own, generation=43), news)
        page.wait("all is well", lambda: page.text("#verdict-text") == "All 30 icons are up to date.")
        page.wait("the events", lambda: page.count(".event") == 11)
        page.wait("the icons", lambda: page.text("#states [data-state='ready'] .number") == "30")
        expect_same("screen readers", page.text("#live"), "All 30 icons are up to date.")
        expect_same("the title", page.driver.title, "All 30 icons are up to date · syncagent")
        port = agent.port
    page.wait("the agent is gone", lambda: page.text("#verdict-text") == "The agent does not respond.")
    expect_same("screen readers", page.text("#live"), "The agent does not respond.")
    expect("what was there is still there", page.count(".cell") > 0)
    expect_same("axe-core", page.flaws(), [])
    with ScriptedAgent(own, status(own), port=port):
        page.wait("the agent is back", lambda: page.text("#verdict-text") == "All 30 icons are up to date.")
    expect_sound(page, is_gone=True)


def back(page):
    """An agent that comes back shows also the images that could not be loaded without it."""
    page.look(1400, "light")
    own = icons(600)
    empty = lambda: page.js("return [...document.querySelectorAll('.cell img')].filter(i => i.hidden || !i.naturalWidth).length")
    with ScriptedAgent(own, status(own)) as agent:
        opened(page, agent)
        port = agent.port
    page.wait("the agent is gone", lambda: page.text("#verdict-text") == "The agent does not respond.")
    page.js("document.getElementById('icons').scrollTop = 1e9")
    page.wait("no images", lambda: page.count(".cell[data-index='599']") == 1 and empty() > 50)
    with ScriptedAgent(own, status(own), port=port):
        page.wait("the agent is back", lambda: page.text("#verdict-text") == "All 600 icons are up to date.")
        page.wait("the images", lambda: empty() == 0)
        expect_sound(page, is_gone=True)


def hangs(page):
    """An agent that hangs, or of which only the server runs, is not shown as live; one that goes on is, by itself."""
    page.look(1400, "light")
    own = icons(30)
    with page.hurried(), ScriptedAgent(own, status(own)) as agent:
        opened(page, agent)
        rounds = lambda: agent.asked.count("/v1/health")
        page.wait("an agent at rest is asked again and again", lambda: rounds() > 1)
        expect_same("at rest", page.text("#link-text"), "Live")
        agent.refusals = {"/v1/health": "busy"}
        wanted = rounds() + 1
        page.wait("refusals", lambda: rounds() > wanted)
        expect_same("busy", page.text("#link-text"), "Live")
        for trouble in ({"hangs": True}, {"refusals": {"/v1/health": "not-responding"}}):
            agent.refusals = trouble.get("refusals", {})
            agent.change(hangs="hangs" in trouble)
            page.wait(f"no answer: {trouble}", lambda: page.text("#link-text") == "Not responding")
            before, wanted = len(agent.asked), rounds() + 1
            page.wait("it is asked again", lambda: rounds() > wanted)
            expect("no stream tells an old status", "/v1/status/stream" not in agent.asked[before:])
            if "hangs" in trouble:
                page.js("document.querySelector('.cell').click()")
                page.wait("the details say so", lambda: "The agent does not respond." in page.text("#details"))
                expect("nothing is awaited", "Asking the agent…" not in page.text("#details"))
            agent.refusals = {}
            agent.change()
            page.wait(f"it goes on: {trouble}", lambda: page.text("#link-text") == "Live")
            page.wait("the details", lambda: "Next" in (page.text("#details dl") or ""))
        page.js("Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange'))")
        page.driver.execute_async_script("setTimeout(arguments[0], 20_000)")
        before = len(agent.asked)
        page.driver.execute_async_script("setTimeout(arguments[0], 60_000)")
        expect_same("what a hidden page asks for", agent.asked[before:], [])
        # The browser itself tells of the refusals.
        page.messages()
        expect_sound(page)


def refused(page):
    """Icons that are refused once are asked for again, but not while the agent is gone."""
    page.look(1400, "light")
    own = icons(30)
    asked = lambda: agent.asked.count("/v1/icons")
    with page.hurried(), ScriptedAgent(own, status(own)) as agent:
        agent.refusals = {"/v1/icons": "busy"}
        page.open(agent.url)
        page.wait("they are asked for again", lambda: asked() > 2)
        expect_same("without icons", page.text("#wall-empty"), "Loading the icons…")
        agent.refusals["/v1/health"] = "not-responding"
        page.wait("the agent is gone", lambda: page.text("#link-text") == "Not responding")
        page.driver.execute_async_script("setTimeout(arguments[0], 6000)")
        before = asked()
        page.driver.execute_async_script("setTimeout(arguments[0], 20_000)")
        expect_same("icons of an agent that is gone", asked(), before)
        agent.refusals = {}
        page.wait("all icons", lambda: page.text("#icons-count") == "30 icons")
        page.messages()
        expect_sound(page)


def first(count, own):
    """The first icons on the wall: “Books 2” is before “Books 10”, and all in Latin letters before others."""
    def key(icon):
        word, number = re.fullmatch(r"(.*?) ?(\d*)", icon["names"][0]).groups()
        return word.casefold(), int(number or 0)
    return sorted((icon for icon in own if icon["names"][0].isascii()), key=key)[:count]


def changes(page):
    """With a token things are changed, and without one nothing is offered."""
    page.look(1400, "light")
    own = icons(30, failed=["http-404"])
    held = status(own, {"level": "problem", "sentence": "2 problems:"}, [
        problem("eviction-held", "most images would be evicted", commands=["syncagent evict --confirm"]),
        problem("http-404", "1 icon failed", commands=["syncagent retry --failed"])],
        icons={"retired": 25})
    with ScriptedAgent(own, held) as agent:
        opened(page, agent)
        expect_same("the address", page.driver.current_url, agent.url)
        page.click("#sync")
        page.wait("a sync", lambda: ("/v1/sync", None) in agent.told)
        page.click("#pause")
        page.wait("a pause", lambda: ("/v1/pause", None) in agent.told)
        agent.change({**held, "state": "paused"})
        page.wait("the other button", lambda: page.text("#pause") == "Resume")
        page.click("#pause")
        page.wait("a resumption", lambda: ("/v1/resume", None) in agent.told)
        page.click(".problem[data-code='http-404'] .actions button")
        page.wait("a retry", lambda: ("/v1/retry", {"failed": True}) in agent.told)
        page.click(".problem[data-code='eviction-held'] .actions button")
        page.wait("a question", lambda: page.count("#confirm") == 1)
        expect_sound(page)
        page.click("#confirm-no")
        expect("nothing is evicted", not any(path == "/v1/evict" for path, _ in agent.told))
        page.click(".problem[data-code='eviction-held'] .actions button")
        page.wait("a question", lambda: page.text("#confirm-yes") == "Evict 25 images")
        page.click("#confirm-yes")
        page.wait("an eviction", lambda: ("/v1/evict", {"confirm": True}) in agent.told)
        page.click(".cell")
        page.wait("what can be done", lambda: page.count("#details .actions button") == 2)
        page.js("[...document.querySelectorAll('#details button')].find(b => b.textContent === 'Pin').click()")
        page.wait("a pin", lambda: ("/v1/pin", {"url": first(1, own)[0]["url"]}) in agent.told)
        page.click("#states [data-state='failed']")
        page.wait("the one that failed", lambda: page.count(".cell") == 1)
        page.click(".cell")
        page.wait("a retry is offered", lambda: "Retry now" in page.text("#details"))
        # The command ends: its token is worth nothing any more. The page says so where it can be seen.
        agent.token = "b" * 64
        page.click(".cell")
        page.wait("read-only now", lambda: "has ended" in page.text("#read-only"))
        expect("it is in sight", page.js("return document.querySelector('#read-only').getBoundingClientRect().top") < 100)
        # The browser itself tells of the refusal.
        page.messages()
        expect_sound(page)
        page.driver.refresh()
        page.wait("read-only", lambda: page.count("#read-only") == 1)
        expect_same("no buttons", page.count("#actions, #problems li .actions button:not(:only-child)"), 0)
    with ScriptedAgent(own, held) as agent:
        opened(page, agent, token=False)
        expect("read-only", "Read-only" in page.text("#read-only"))
        expect_same("no buttons", page.count("#actions"), 0)
        page.click(".cell")
        page.wait("details", lambda: "Next" in (page.text("#details dl") or ""))
        expect_same("nothing to do", page.count("#details .actions"), 0)


def readers(page):
    """If nothing can be read without a token, the page has its pictures by it, and nothing without it."""
    page.look(1400, "light")
    own = icons(200)
    pictures = lambda: page.js("""return [...document.querySelectorAll('.cell img')]
        .filter(i => !i.hidden && i.naturalWidth === 64 && i.src.startsWith('blob:')).length""")
    with ScriptedAgent(own, status(own), anonymous="none") as agent:
        opened(page, agent)
        page.wait("a picture in every cell", lambda: 0 < page.count(".cell") == pictures())
        page.js("document.getElementById('icons').scrollTop = 1e9")
        page.wait("the last icon", lambda: page.count(".cell[data-index='199']") == 1)
        page.wait("a picture in every cell", lambda: page.count(".cell") == pictures())
        # Each cell has the picture of its own icon, however often it had another one.
        page.js("document.getElementById('icons').scrollTop = 0")
        page.wait("the first icon", lambda: page.count(".cell[data-index='1']") == 1)
        page.wait("a picture in every cell", lambda: page.count(".cell") == pictures())
        expect_same("the sources", page.js("""return [...document.querySelectorAll('.cell')].sort(
            (a, b) => a.dataset.index - b.dataset.index).slice(0, 9).map(c => c.querySelector('img').dataset.source)"""),
            ["/" + icon["path"] for icon in first(9, own)])
        page.click(".cell")
        page.wait("details", lambda: "Next" in (page.text("#details dl") or ""))
        page.wait("its picture", lambda: page.js("return document.querySelector('#details img').naturalWidth") == 64)
        expect_sound(page)
    with ScriptedAgent(own, status(own), anonymous="none") as agent:
        page.open(agent.url)
        page.wait("a refusal", lambda: page.text("#verdict-text") == "This page may not read the agent’s state.")
        expect_same("the wall", page.count(".cell"), 0)
        # The browser itself tells of each refusal, and a page that is refused does not ask again and again.
        expect("a few refusals", len(page.messages()) <= 3)
        expect_same("axe-core", page.flaws(), [])


USES = (virtual, keyboard, stops, filters, live, back, hangs, refused, changes, readers)
