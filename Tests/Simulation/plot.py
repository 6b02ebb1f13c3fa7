# SPDX-License-Identifier: Apache-2.0
"""Draws what became of simulated fleets, as SVG: arrivals over time, and requests against the number of machines."""
import math

WIDTH, HEIGHT = 300, 210
LEFT, RIGHT, TOP, BOTTOM = 60, 24, 62, 52
MINUTES = 60
ARRIVALS = {
    "copy-1": "copy after 1 min", "copy-20": "copy after 20 min", "hangs": "hangs after 4 min", "dead": "dead at once"}

STYLE = """
    .page { fill: #ffffff } .axis { stroke: #8a8f98 } .grid { stroke: #e4e6ea }
    text { fill: #24292f; font: 12px system-ui, sans-serif }
    .title { font-weight: 600; font-size: 14px } .unit { fill: #57606a }
    .a { stroke: #0b5cad; fill: #0b5cad } .b { stroke: #b4460a; fill: #b4460a }
    .c { stroke: #1a7f37; fill: #1a7f37 } .d { stroke: #8250df; fill: #8250df }
    text.a, text.b, text.c, text.d { stroke: #ffffff; stroke-width: 4px; paint-order: stroke }
    path { fill: none !important; stroke-width: 2 }
    @media (prefers-color-scheme: dark) {
      .page { fill: #16181d } .axis { stroke: #7d8590 } .grid { stroke: #2d333b }
      text { fill: #e6edf3 } .unit { fill: #9da7b3 }
      .a { stroke: #79b8ff; fill: #79b8ff } .b { stroke: #ffa66b; fill: #ffa66b }
      .c { stroke: #7ee787; fill: #7ee787 } .d { stroke: #d2a8ff; fill: #d2a8ff }
      text.a, text.b, text.c, text.d { stroke: #16181d }
    }
"""


def _count(value):
    return f"{value // 1000:.0f}k" if value >= 1000 else f"{value:g}"


class _Panel:
    """One diagram. Both axes have ticks; the first and the last one are the ends."""

    def __init__(self, left, title, unit, across, x_ticks, y_ticks, scale):
        self.left, self.scale = left + LEFT, scale
        self.x_ends, self.y_ends = (scale(x_ticks[0]), scale(x_ticks[-1])), (scale(y_ticks[0]), scale(y_ticks[-1]))
        self.parts = [
            f'<text class="title" x="{self.left}" y="24">{title}</text>',
            f'<text class="unit" x="{self.left}" y="42">{unit}</text>',
            f'<text class="unit" x="{self.left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">{across}'
            "</text>"]
        for tick in y_ticks:
            _, y = self.place(x_ticks[0], tick)
            self.line("axis" if tick == y_ticks[0] else "grid", self.left, y, self.left + WIDTH, y)
            self.text(self.left - 6, y + 4, _count(tick), "end")
        for tick in x_ticks:
            x, bottom = self.place(tick, y_ticks[0])
            self.line("axis" if tick == x_ticks[0] else "grid", x, TOP, x, bottom)
            self.text(x, bottom + 18, _count(tick), "middle")

    def place(self, x, y):
        across = (self.scale(x) - self.x_ends[0]) / (self.x_ends[1] - self.x_ends[0])
        up = (self.scale(y) - self.y_ends[0]) / (self.y_ends[1] - self.y_ends[0])
        return self.left + across * WIDTH, TOP + (1 - up) * HEIGHT

    def add(self, kind, name, points, marked, row, indent=12):
        places = [self.place(x, y) for x, y in points]
        self.parts.append(f'<path class="{kind}" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>')
        for x, y in places if marked else []:
            self.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>')
        self.parts.append(f'<text class="{kind}" x="{self.left + indent}" y="{TOP + 16 + 16 * row}">● {name}</text>')

    def line(self, kind, x1, y1, x2, y2):
        self.parts.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def text(self, x, y, text, anchor):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>')


def _arrivals(figures, left):
    panel = _Panel(
        left, "Machines that have an icon", "percent of 10,000", "minutes after the list reached the first machine",
        range(0, MINUTES + 1, 15), range(0, 101, 25), float)
    for row, (kind, (name, label)) in enumerate(zip("abcd", ARRIVALS.items())):
        curve = figures[name, 10_000, "origin"]["curve"]
        points = [(index / 2, share) for index, share in enumerate(curve) if index <= 2 * MINUTES]
        # The names are below the ends of the curves.
        panel.add(kind, label, points, False, 8 + row, indent=165)
    return panel


def _sizes(figures, left, title, unit, y_ticks, series, first=0):
    sizes = sorted({machines for _, machines, _ in figures if machines >= 1000})
    panel = _Panel(left, title, unit, "machines", sizes, y_ticks, lambda value: math.log10(max(value, y_ticks[0])))
    for row, (kind, (label, name, field)) in enumerate(zip("abcd", series)):
        points = [(size, figures[name, size, "origin"][field]) for size in sizes if (name, size, "origin") in figures]
        panel.add(kind, label, points, True, first + row)
    return panel


def write(figures, path):
    """Writes the picture of the figures, by scenario, machines and fallback."""
    step = LEFT + WIDTH + RIGHT
    powers = [10 ** power for power in range(6)]
    panels = [
        _arrivals(figures, 0),
        _sizes(
            figures, step, "Requests per icon at its origin", "fallback = origin", powers,
            [(label, name, "originMax") for name, label in ARRIVALS.items()], first=7.5),
        _sizes(
            figures, 2 * step, "Requests a second, copy after 1 min", "peak over a minute", powers,
            [("20 caches together", "copy-1", "edgePeak60"), ("server behind them", "copy-1", "serverPeak60")]),
    ]
    width, height = step * len(panels), TOP + HEIGHT + BOTTOM
    label = "When the machines of a simulated fleet have an icon, and how many requests that takes"
    drawn = "\n  ".join(part for panel in panels for part in panel.parts)
    with open(path, "w") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{label}">\n  <title>{label}</title>\n  <style>{STYLE}  </style>\n'
            f'  <rect class="page" width="{width}" height="{height}" rx="8"/>\n  {drawn}\n</svg>\n')
