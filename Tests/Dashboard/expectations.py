# SPDX-License-Identifier: Apache-2.0
"""What holds of every page, and how one is opened."""
from browser import TOKEN


def expect(what, is_true):
    if not is_true:
        raise AssertionError(what)


def expect_same(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, not {wanted!r}")


def expect_sound(page, is_gone=False):
    """Nothing on the console, nothing for axe, nothing beyond the edge."""
    # Only the browser itself tells that a server is gone.
    expect_same("the console", [text for text in page.messages() if not (is_gone and "net::ERR_" in text)], [])
    expect_same("axe-core", page.flaws(), [])
    expect_same("what is cut off", page.cut(), [])
    expect("the states are in one row", page.js("""return new Set([...document.querySelectorAll('#states button')]
        .filter(e => e.checkVisibility()).map(e => e.offsetTop)).size""") <= 1)
    expect("the page is no wider than the window", not page.is_too_wide())


def opened(page, agent, token=True):
    page.open(agent.url + (f"#token={TOKEN}" if token else ""))
    page.wait("a verdict", lambda: page.text("#verdict-text") not in (None, "Loading…"))
    wanted = len(agent.icons)
    page.wait("all icons", lambda: page.text("#icons-count") == f"{wanted:,} icon{'' if wanted == 1 else 's'}")
    expect_images(page)


def expect_images(page):
    page.wait("the images in sight", lambda: page.js(
        "return [...document.querySelectorAll('.cell img')].every(i => i.hidden || i.complete)"))
