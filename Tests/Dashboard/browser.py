# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, and what is asked of a page."""
import contextlib
import importlib.util
import pathlib
import shutil
import sys
import time

TOKEN = "a" * 64
THEMES = ("light", "dark")
WIDTHS = {400: 860, 1400: 1000}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def axe_source():
    for module, path in (("axe_core_python", "axe.min.js"),
                         ("axe_selenium_python", "node_modules/axe-core/axe.min.js")):
        found = importlib.util.find_spec(module)
        if found and found.origin:
            file = pathlib.Path(found.origin).parent / path
            if file.is_file():
                return file.read_text()
    skip("axe-core is not installed: pip install axe-core-python")


try:
    from selenium import webdriver
    from selenium.webdriver import ActionChains
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    skip("selenium is not installed: pip install selenium")

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    skip("chromium or chromedriver is not installed: apt-get install chromium chromium-driver")


@contextlib.contextmanager
def browser(*options):
    settings = webdriver.ChromeOptions()
    settings.binary_location = CHROMIUM
    # As root, which containers are, chromium has no sandbox of its own.
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--force-device-scale-factor=1", "--force-prefers-reduced-motion", *options):
        settings.add_argument(option)
    settings.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=settings, service=Service(DRIVER))
    try:
        yield Page(driver)
    finally:
        driver.quit()


class Page:
    def __init__(self, driver):
        self.driver = driver
        self.axe = axe_source()

    def look(self, width, theme):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": WIDTHS[width], "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": theme},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def open(self, url):
        # A page that is left and come back to keeps what it stored: each visit is a first one.
        self.driver.get("about:blank")
        self.messages()
        self.driver.get(url)

    @contextlib.contextmanager
    def hurried(self):
        """Pages that are opened meanwhile wait for long times a twentieth of them."""
        made = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
            const hurry = time => (time >= 5000 ? time / 20 : time), { setTimeout: wait } = window;
            const limit = AbortSignal.timeout.bind(AbortSignal);
            window.setTimeout = (work, time, ...more) => wait(work, hurry(time), ...more);
            AbortSignal.timeout = time => limit(hurry(time));"""})
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0])?.textContent.trim() ?? null", selector)

    def count(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length",
                       selector)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector):
        self.find(selector).click()

    def press(self, *keys):
        # To what has the focus when they arrive: the page may draw it anew after it was looked up.
        ActionChains(self.driver).send_keys(*[getattr(Keys, key, key) for key in keys]).perform()

    def focused(self):
        return self.js("const e = document.activeElement; return e.id || e.className || e.tagName")

    def wait(self, what, condition, limit=60):
        end = time.monotonic() + limit
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"it did not happen within {limit} s: {what}")
            time.sleep(0.02)

    def busy(self):
        """How much processor time the page's thread has taken, in milliseconds."""
        self.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        found = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return 1000 * next(metric["value"] for metric in found if metric["name"] == "TaskDuration")

    def settle(self):
        """Returns once the page has been laid out anew, and drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))")

    def messages(self):
        """What the console says, by now."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def flaws(self):
        """What axe-core finds, in a line each."""
        if not self.js("return 'axe' in window"):
            self.js(self.axe)
        # Icons that are ready are made in the same way: a row or two of them tell of all.
        found = self.driver.execute_async_script("""const done = arguments[0];
            axe.run({exclude: ['.cell[data-state="ready"]:nth-child(n + 20)']}, {resultTypes: ['violations']})
              .then(result => done(result.violations))""")
        return [f"{rule['id']}: {node['target']}: {node['failureSummary']}" for rule in found for node in rule["nodes"]]

    def cut(self):
        """What does not fit its box, and does not say so by an ellipsis."""
        return self.js("""return [...document.querySelectorAll('button, h1, h2, h3, p, dd, dt, code, li, .segments, .facts')]
            .filter(e => e.checkVisibility() && !e.closest('.unseen') && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1
              && getComputedStyle(e).textOverflow !== 'ellipsis')
            .map(e => e.outerHTML.slice(0, 160))""")

    def is_too_wide(self):
        return self.js("return document.scrollingElement.scrollWidth > innerWidth")

    def save(self, path):
        self.driver.save_screenshot(str(path))
