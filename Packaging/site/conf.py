# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes web pages of what pages.py has written."""
import html
import json
import pathlib
import re
import shutil

from docutils import nodes
from sphinx import addnodes
from sphinx.search import SearchEnglish, languages
from sphinx.transforms import SphinxTransform

HERE = pathlib.Path(__file__).resolve().parent
project = "syncagent"
version = release = re.match(r"\w+ \(([^)]+)\)", (HERE.parent / "debian/changelog").read_text())[1]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["extra"]
myst_heading_anchors = 4
# Types of the standard library are on no page. What a page of ours links to is checked in what was made.
nitpick_ignore_regex = [("py:.*", ".*")]
# Examples with “…” in them are no complete programs.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "none"
add_module_names = False
toc_object_entries = False

html_theme = "syncagent"
html_theme_path = [str(HERE)]
html_title = f"syncagent {version}"
html_copy_source = False
html_permalinks_icon = "#"
html_domain_indices = False
# From a file, a page cannot read another one: syncagent/static/search.js has something instead.
html_show_search_summary = False
# Those that a search needs: Sphinx brings others along for themes and extensions.
SCRIPTS = ("documentation_options.js", "doctools.js", "sphinx_highlight.js")


class Words(SearchEnglish):
    """Words such as http-404 and lists.settle are found as a whole, and by their parts: search.js asks for the whole."""

    def split(self, text):
        words = super().split(text)
        return words + [word for word in re.findall(r"\w+(?:[.-]\w+)+", text) if len(word) < 40]


# Where Sphinx looks for the language of the pages.
languages["en"] = Words


class Entries(SphinxTransform):
    """Has what tables begin their rows with in the index, such as codes and settings: a search shows that first."""

    default_priority = 500

    def apply(self, **_):
        for row in self.document.findall(nodes.row):
            if not isinstance(row.parent, nodes.tbody):
                continue
            names = [code.astext() for code in row[0].findall(nodes.literal)]
            rest = re.sub(r"[\s,]|or|and", "", row[0].astext())
            # A cell that has nothing else.
            if not names or rest != "".join(re.sub(r"[\s,]|or|and", "", name) for name in names):
                continue
            # The number in http-NNN is that of an example.
            examples = [code.astext() for cell in row[1:] for code in cell.findall(nodes.literal)]
            names += [text for text in examples for name in names
                      if name.endswith("-NNN") and re.fullmatch(name.replace("NNN", "[0-9]+"), text)]
            for name in dict.fromkeys(names):
                target = "row-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
                if target in self.document.ids or ";" in name or "!" in name:
                    continue
                place = nodes.target("", "", ids=[target])
                self.document.note_explicit_target(place)
                # Later versions of Sphinx show what is not the main entry of a name last.
                entry = addnodes.index(entries=[("single", name, target, "main", None)])
                row[0].insert(0, [entry, place])
                text = " ".join(cell.astext() for cell in row[1:])
                excerpts(self.env)[f"{self.env.docname}.html#{target}"] = f"{name}: {shortened(text)}"


def excerpts(env):
    """What results of a search say below their names."""
    if not hasattr(env, "syncagent_excerpts"):
        env.syncagent_excerpts = {}
    return env.syncagent_excerpts


def shortened(text, limit=220):
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"


def note_beginning(app, doctree):
    """The first paragraph of a page, and of each section."""
    for section in doctree.findall(nodes.section):
        text = next((part for part in section.children if isinstance(part, (nodes.paragraph, nodes.raw))), None)
        if text is None or not section["ids"]:
            continue
        plain = text.astext()
        if isinstance(text, nodes.raw):
            plain = html.unescape(re.sub(r"<[^>]*>", "", plain))
        page = f"{app.env.docname}.html"
        excerpts(app.env).setdefault(f"{page}#{section['ids'][0]}", shortened(plain))
        excerpts(app.env).setdefault(page, shortened(plain))


def adapt(app, pagename, templatename, context, doctree):
    """Has what may be too wide scroll by keyboard, too, and leaves out marks that the style sheet has no use for."""
    body = context.get("body", "")
    body = re.sub(r'<code class="docutils literal notranslate">((?:(?!</code>).)*)</code>',
                  lambda found: f"<code>{re.sub('</?span[^>]*>', '', found[1])}</code>", body, flags=re.S)
    body = re.sub(r'<span class="(?:n|o|p|w)">([^<]*)</span>', r"\1", body)
    body = body.replace(' class="reference internal"', "").replace("<pre>", '<pre tabindex="0">')
    body = body.replace('<table class="docutils', '<div class="table" tabindex="0"><table class="docutils')
    context["body"] = re.sub(r'(<div class="table"(?:(?!</table>).)*</table>)', r"\1</div>", body, flags=re.S)


def add_to_templates(app):
    environment = app.builder.templates.environment
    environment.tests["in_use"] = lambda name: str(name).rsplit("/", 1)[-1] in SCRIPTS
    # Every page has these links: without their classes, all pages together take a fifth less.
    environment.filters["plain"] = lambda links: re.sub(
        r' class="(?:reference internal|toctree-l\d)"|(?<=class="current) [^"]*|(?<=>)\s+(?=<)|<ul>\s*</ul>', "",
        links).replace(' role="heading"', "").replace(' aria-level="2"', "")


def finish(app, exception):
    if exception or app.builder.name != "html":
        return
    # Pictures of the README, which are where the README says.
    shutil.copytree(pathlib.Path(app.srcdir, "extra"), app.outdir, dirs_exist_ok=True)
    # Nobody else links to these pages by their names.
    pathlib.Path(app.outdir, "objects.inv").unlink()
    static = pathlib.Path(app.outdir, "_static")
    text = json.dumps(excerpts(app.env), ensure_ascii=False, indent=0, sort_keys=True)
    (static / "excerpts.js").write_text(f"const excerpts = {text};\n")
    for path in static.iterdir():
        kept = (*SCRIPTS, "searchtools.js", "language_data.js", "excerpts.js", "search.js", "site.css", "pygments.css",
                "pygments_dark.css")
        if path.name not in kept:
            path.unlink()


def setup(app):
    app.add_transform(Entries)
    app.connect("doctree-read", note_beginning)
    app.connect("html-page-context", adapt)
    app.connect("build-finished", finish)
    app.connect("builder-inited", add_to_templates)
