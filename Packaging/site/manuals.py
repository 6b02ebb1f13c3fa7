# SPDX-License-Identifier: Apache-2.0
"""Manual pages as pages with sections."""
import re
import subprocess


def slug(title):
    """The identifier that a heading gets."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def described(path):
    """The names that a manual page describes. A package has each as a link to the page."""
    heading = re.search(r"(?ms)^\.Sh NAME\n(.*?)^\.Nd ", path.read_text())
    return re.findall(r"(?m)^\.Nm (\S+)", heading[1]) if heading else []


def manual(path, pages):
    """A manual page, whose sections are those of the page. None if it only names another.

    It links to `pages`: the names of the files by those of what they describe, such as iconcache_free.3.
    """
    if path.read_text().startswith(".so "):
        return None
    page = subprocess.run(
        ["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", path], check=True, capture_output=True, text=True).stdout
    page = page[page.index('<div class="manual-text">'):page.rindex("</div>\n<table")]
    page = re.sub(r'<div class="manual-text">|</?section[^>]*>', "", page)
    page = re.sub(r'<a class="permalink" href="[^"]*">(.*?)</a>', r"\1", page, flags=re.S)

    def outer(found):
        # Those of other packages are no pages of this site.
        page = pages.get(found[1].removesuffix(".html"))
        return f'<a class="Xr" href="{page}.html">{found[2]}</a>' if page else f'<span class="Xr">{found[2]}</span>'

    page = re.sub(r'<a class="Xr" href="([^"#]*)">(.*?)</a>', outer, page, flags=re.S)
    page = re.sub(r'(<a class="Sx" href=")#([^"]*)"', lambda found: f'{found[1]}#{slug(found[2])}"', page)
    text = f"# {path.stem}({path.suffix[1:]})\n"
    parts = re.split(r'<h([12]) class="S[hs]"(?: id="[^"]*")?>(.*?)</h[12]>', page, flags=re.S)
    for level, title, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        title = " ".join(re.sub(r"<[^>]*>", "", title).split())
        if level == "1" and title != "URLS":
            title = title.capitalize()
        text += f"\n{'#' * (int(level) + 1)} {title}\n"
        if body.strip():
            text += f"\n````{{raw}} html\n{body.strip()}\n````\n"
    return text
