# SPDX-License-Identifier: Apache-2.0
"""Draws what size costs, as SVG: a start, a change and the memory against the number of icons, on logarithmic axes."""
import math

PANELS = [
    ("Start", "seconds", [("in sync", "start to in sync")]),
    ("Changed list to manifest", "milliseconds beyond lists.settle",
     [("p99", "change to manifest, p99"), ("p50", "change to manifest, p50")]),
    ("Resident memory", "MiB",
     [("after the first run", "memory after the first run"), ("after a start", "memory after a start")]),
]
WIDTH, HEIGHT = 300, 210
LEFT, RIGHT, TOP, BOTTOM = 54, 24, 62, 52

STYLE = """
    .page { fill: #ffffff } .axis { stroke: #8a8f98 } .grid { stroke: #e4e6ea }
    text { fill: #24292f; font: 12px system-ui, sans-serif }
    .title { font-weight: 600; font-size: 14px } .unit { fill: #57606a }
    .a { stroke: #0b5cad; fill: #0b5cad } .b { stroke: #b4460a; fill: #b4460a } 
    text.a, text.b { stroke: #ffffff; stroke-width: 4px; paint-order: stroke }
    path { fill: none !important; stroke-width: 2 }
    @media (prefers-color-scheme: dark) {
      .page { fill: #16181d } .axis { stroke: #7d8590 } .grid { stroke: #2d333b }
      text { fill: #e6edf3 } .unit { fill: #9da7b3 }
      .a { stroke: #79b8ff; fill: #79b8ff } .b { stroke: #ffa66b; fill: #ffa66b }
      text.a, text.b { stroke: #16181d }
    }
"""


def _decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _count(icons):
    return f"{icons // 1_000_000}M" if icons >= 1_000_000 else f"{icons // 1000}k" if icons >= 1000 else str(icons)


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


class _Panel:
    """One diagram; positions are those of the whole drawing."""

    def __init__(self, left, title, unit, series):
        self.left = left + LEFT
        self.series = series
        self.x = _decades([x for _, points in series for x, _ in points])
        self.y = _decades([y for _, points in series for _, y in points])
        self.parts = [
            f'<text class="title" x="{self.left}" y="24">{title}</text>',
            f'<text class="unit" x="{self.left}" y="42">{unit}</text>']

    def place(self, x, y):
        across = (math.log10(x) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(y) - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + across * WIDTH, TOP + (1 - up) * HEIGHT

    def draw(self):
        for power in range(self.y[0], self.y[1] + 1):
            _, y = self.place(10 ** self.x[0], 10 ** power)
            self.line("axis" if power == self.y[0] else "grid", self.left, y, self.left + WIDTH, y)
            label = _number(10 ** power)
            self.parts.append(f'<text x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        for power in range(self.x[0], self.x[1] + 1):
            x, bottom = self.place(10 ** power, 10 ** self.y[0])
            self.line("axis" if power == self.x[0] else "grid", x, TOP, x, bottom)
            self.parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{_count(10 ** power)}</text>')
        self.parts.append(
            f'<text class="unit" x="{self.left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">icons</text>')
        for kind, (name, points) in zip("ab", self.series):
            places = [self.place(x, y) for x, y in points]
            line = " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            self.parts.append(f'<path class="{kind}" d="M{line}"/>')
            above = kind == "a"
            for (x, y), (_, value) in zip(places, points):
                self.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
                anchor = "start" if x < self.left + 20 else "end" if x > self.left + WIDTH - 20 else "middle"
                x, y = x + (4 if anchor == "start" else 0), y + (-10 if above else 19)
                self.parts.append(
                    f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_number(value)}</text>')
            if len(self.series) > 1:
                x, y = self.left + 12, TOP + (16 if above else 32)
                self.parts.append(f'<text class="{kind}" x="{x}" y="{y}">● {name}</text>')
        return "\n  ".join(self.parts)

    def line(self, kind, x1, y1, x2, y2):
        self.parts.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')


def write(report, path):
    """Writes the picture; panels of which nothing was measured are left out."""
    panels = []
    step = LEFT + WIDTH + RIGHT
    for title, unit, names in PANELS:
        series = []
        for label, name in names:
            rows = [row for row in report.rows if row["name"] == name and "icons" in row]
            points = sorted((row["icons"], row["value"]) for row in rows)
            if points:
                series.append((label, points))
        if series:
            panels.append(_Panel(len(panels) * step, title, unit, series).draw())
    if not panels:
        raise SystemExit("nothing to draw: --plot needs the family scale")
    width, height = step * len(panels), TOP + HEIGHT + BOTTOM
    label = "What a start, a changed list and the memory cost with more icons"
    with open(path, "w") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{label}">\n  <title>{label}</title>\n  <style>{STYLE}  </style>\n'
            f'  <rect class="page" width="{width}" height="{height}" rx="8"/>\n  ' + "\n  ".join(panels) + "\n</svg>\n")
