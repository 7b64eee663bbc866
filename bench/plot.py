# SPDX-License-Identifier: MIT
"""Draws the ratios of a benchmark run as an SVG: one line a row, Go at 1, a logarithmic axis, left is better.

write() is all there is to call. Colours follow the reader's light or dark setting.
"""
import math
from xml.sax.saxutils import escape

WIDTH, LABELS, NUMBERS = 900, 190, 150
TOP, LINE, BOTTOM = 78, 24, 34
MARGIN = 14
SYSTEMS = ("weft", "fiber", "tbb")

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-size: 15px; font-weight: 600 }
  .faint { fill: #6e7781 }
  .paper { fill: #ffffff }
  .stripe { fill: #f6f8fa }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .one { stroke: #24292f; stroke-width: 1.5 }
  .stem { stroke: #0969da; stroke-width: 3; opacity: .35 }
  .weft { fill: #0969da }
  .fiber { fill: #bc4c00 }
  .tbb { fill: #8250df }
  .bar { stroke: #1a7f37; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .faint { fill: #8d96a0 }
    .paper { fill: #0d1117 }
    .stripe { fill: #161b22 }
    .grid { stroke: #30363d }
    .one { stroke: #e6edf3 }
    .stem { stroke: #58a6ff }
    .weft { fill: #58a6ff }
    .fiber { fill: #f0883e }
    .tbb { fill: #a371f7 }
    .bar { stroke: #3fb950 }
  }
"""


def write(path, rows):
    """rows: [(name, {each of SYSTEMS: ratio or None}, ratio of the bar or None)]. No row has both peers."""
    low, high = decades(rows)
    height = TOP + LINE * len(rows) + BOTTOM

    def x(value):
        inside = min(max(math.log10(value), low), high) if value > 0 else low
        return LABELS + (WIDTH - LABELS - NUMBERS) * (inside - low) / (high - low)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
             f'viewBox="0 0 {WIDTH} {height}" role="img" '
             'aria-label="Cost of weft, Boost.Fiber and oneTBB as multiples of Go">',
             f"<style>{STYLE}</style>", f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>']
    parts += stripes(rows)
    parts += axis(range(low, high + 1), x, height)
    parts += legend()
    for number, (name, ratios, bar) in enumerate(rows):
        parts += one_row(TOP + LINE * number + LINE / 2, x, name, ratios, bar)
    parts.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def decades(rows):
    """The powers of ten that hold every ratio above zero, at least 0.1 to 10."""
    found = [value for _, ratios, bar in rows for value in [*ratios.values(), bar] if value]
    return (math.floor(math.log10(min(found + [0.1])) + 1e-9), math.ceil(math.log10(max(found + [10])) - 1e-9))


def stripes(rows):
    return [f'<rect class="stripe" x="0" y="{TOP + LINE * i}" width="{WIDTH}" height="{LINE}"/>'
            for i in range(0, len(rows), 2)]


def axis(powers, x, height):
    parts = []
    for power in powers:
        at = x(10.0 ** power)
        kind = "one" if power == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{at:.1f}" y1="{TOP - 6}" x2="{at:.1f}" y2="{height - BOTTOM + 6}"/>')
        for y in (TOP - 12, height - BOTTOM + 22):
            text = "Go" if power == 0 else f"{10.0 ** power:g}×"
            parts.append(f'<text class="{"" if power == 0 else "faint"}" x="{at:.1f}" y="{y}" '
                         f'text-anchor="middle">{text}</text>')
    return parts


def legend():
    y = 28
    return [f'<text class="title" x="{MARGIN}" y="{y}">Cost as a multiple of Go: left is better</text>',
            weft_mark(WIDTH - 410, y - 5), f'<text x="{WIDTH - 400}" y="{y}">weft</text>',
            fiber_mark(WIDTH - 350, y - 5), f'<text x="{WIDTH - 340}" y="{y}">Boost.Fiber</text>',
            tbb_mark(WIDTH - 250, y - 5), f'<text x="{WIDTH - 240}" y="{y}">oneTBB</text>',
            bar_mark(WIDTH - 160, y - 5), f'<text x="{WIDTH - 150}" y="{y}">bar for weft</text>']


def one_row(y, x, name, ratios, bar):
    parts = [f'<text x="{LABELS - 16}" y="{y + 4}" text-anchor="end">{escape(name)}</text>']
    weft, fiber, tbb = (ratios.get(system) for system in SYSTEMS)
    if weft is not None:
        parts.append(f'<line class="stem" x1="{x(1):.1f}" y1="{y}" x2="{x(weft):.1f}" y2="{y}"/>')
    if fiber is not None:
        parts.append(fiber_mark(x(fiber), y))
    if tbb is not None:
        parts.append(tbb_mark(x(tbb), y))
    if bar is not None:
        parts.append(bar_mark(x(bar), y))
    if weft is not None:
        parts.append(weft_mark(x(weft), y))
    peer_at = WIDTH - MARGIN
    for at, value, kind in ((peer_at - 62, weft, "weft"), (peer_at, fiber, "fiber"), (peer_at, tbb, "tbb")):
        if value is not None:
            parts.append(f'<text style="font-variant-numeric: tabular-nums" class="{kind}" x="{at}" y="{y + 4}" '
                         f'text-anchor="end">{short(value)}×</text>')
    return parts


def short(value):
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}" if value else "0"


def weft_mark(x, y):
    return f'<circle class="weft" cx="{x:.1f}" cy="{y}" r="5.5"/>'


def fiber_mark(x, y):
    return f'<rect class="fiber" x="{x - 4:.1f}" y="{y - 4}" width="8" height="8" transform="rotate(45 {x:.1f} {y})"/>'


def tbb_mark(x, y):
    return f'<rect class="tbb" x="{x - 4.5:.1f}" y="{y - 4.5}" width="9" height="9"/>'


def bar_mark(x, y):
    return f'<line class="bar" x1="{x:.1f}" y1="{y - 9}" x2="{x:.1f}" y2="{y + 9}"/>'
