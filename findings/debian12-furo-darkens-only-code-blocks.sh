#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The Sphinx theme Furo 2022.12.07 of Debian 12 (furo 2022.12.07+dfsg-1) beside the same version from PyPI, each with
# Sphinx 5.3.0 (PyPI), the version of Debian 12.
# Expected: the same page: dark where the browser asks for dark colours, with a button that changes the colours.
# Seen: with Debian's, the page stays white and only its blocks of code turn dark. Their colours are in the page itself,
# while furo.css has none for such browsers: these rules stand in "@media not print" around "@media
# (prefers-color-scheme: dark)", and sassc, with which Debian makes furo.css, leaves such a pair out without an error.
# There is no button: it is hidden while the page has the class no-js, which furo.js takes away, and furo.js never runs.
# It begins with an import, which only a module may have, and the page does not load it as a module.
# And furo.css imports normalize.css by an absolute path of a web server, so a page opened from a file does without it:
# it has the browser's margin.
# Why it matters: Sphinx reports nothing, and in light colours the page looks right. Look at pages made with Debian's
# packages in dark colours and from a file, or take the theme from PyPI.
# Needs: the lists of `apt-get update` (Debian 12); x86_64 or aarch64 with glibc 2.31; python3 (3.10 to 3.12) with venv.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

apt-get -qq -o APT::Sandbox::User=root download furo=2022.12.07+dfsg-1
dpkg -x furo_*.deb root
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check --no-cache-dir sphinx==5.3.0 furo==2022.12.7 \
    sphinx-basic-ng==1.0.0b1 pygments==2.14.0 tinycss2==1.5.1 mini-racer==0.12.4

mkdir pages
echo 'html_theme = "furo"' > pages/conf.py
cat > pages/index.rst <<'RST'
Kiosk
=====

.. code-block:: python

   print("icon")
RST

# What the page's style sheets say, and what V8, Chromium's engine, says about its script.
cat > look.py <<'PYTHON'
import json, re, sys
import tinycss2
from py_mini_racer import MiniRacer

def text(nodes):
    return re.sub(r'[\s"]', "", tinycss2.serialize(nodes))

def declarations(rules, media=""):
    for rule in rules:
        if rule.type == "qualified-rule":
            for item in tinycss2.parse_blocks_contents(rule.content, True, True):
                if item.type == "declaration":
                    yield media, text(rule.prelude), item.name, text(item.value)
        elif rule.lower_at_keyword == "media":
            yield from declarations(tinycss2.parse_rule_list(rule.content, True, True), media + text(rule.prelude))
        elif rule.lower_at_keyword == "import":
            yield media, "", "@import", text(rule.prelude)

def read(name):
    with open(f"{sys.argv[1]}/{name}", encoding="utf-8") as file:
        return file.read()

page = read("index.html")
css = read("_static/styles/furo.css") + "".join(re.findall("<style>(.*?)</style>", page, re.DOTALL))
found = {tuple(key): value for *key, value in declarations(tinycss2.parse_stylesheet(css, True, True))}
dark = "notprint(prefers-color-scheme:dark)", "body:not([data-theme=light])"
for what, *key in [
    ("imported", "", "", "@import"),
    ("margin", "", "body", "margin"),
    ("light page", "", "body", "--color-background-primary"),
    ("light code", "", "body", "--color-code-background"),
    ("dark page", *dark, "--color-background-primary"),
    ("dark code", *dark, "--color-code-background"),
    ("button, class no-js", "", ".no-js.theme-toggle-container", "display"),
]:
    print(f"{what}: {found.get(tuple(key), '-')}")
print(*re.findall(r'<html[^>]*>|<script src="_static/scripts/furo.js[^>]*>', page))
script = json.dumps(read("_static/scripts/furo.js"))
print(MiniRacer().eval(f"try {{ new Function({script}); 'furo.js: parsed' }} catch (error) {{ 'furo.js: ' + error }}"))
PYTHON

for origin in pypi debian; do
    case $origin in
        pypi) export PYTHONPATH= ;;
        debian) export PYTHONPATH=$work/root/usr/lib/python3/dist-packages ;;
    esac
    echo "$origin: Furo $(python/bin/python -c 'import furo; print(furo.__version__)')"
    python/bin/python -m sphinx -q -W pages $origin
    python/bin/python look.py $origin | sed "s/^/$origin: /"
done > got

cat > expected <<'TEXT'
pypi: Furo 2022.12.07
pypi: imported: -
pypi: margin: 0
pypi: light page: #fff
pypi: light code: #f8f8f8
pypi: dark page: #131416
pypi: dark code: #202020
pypi: button, class no-js: none
pypi: <html class="no-js" lang="en"> <script src="_static/scripts/furo.js">
pypi: furo.js: parsed
debian: Furo 2022.12.07
debian: imported: url(/javascript/normalize.css/normalize.css)
debian: margin: -
debian: light page: white
debian: light code: #f8f8f8
debian: dark page: -
debian: dark code: #202020
debian: button, class no-js: none
debian: <html class="no-js" lang="en"> <script src="_static/scripts/furo.js">
debian: furo.js: SyntaxError: Cannot use import statement outside a module
TEXT
diff -u expected got || { echo "no longer as described" >&2; exit 1; }
cat got
echo "as described"
