# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The picture of scale.py: for each curve, growth of CPU time, memory and bytes over growth of the
work, both axes logarithmic. The grey line is growth in proportion."""

import html
import math

WIDTH, HEIGHT, MARGIN = 300, 200, 34     # of a curve
ACROSS = 3
LINES = (("cpu_s", "CPU time", "#c0392b"), ("memory_mb", "memory", "#2471a3"), ("megabytes", "bytes", "#229954"))


def doublings(first, value):
    return math.log2(value / first) if first > 0 and value > 0 else 0


def plot(curve, rows, left, top):
    """Elements of the picture of one curve."""
    right = max(1, doublings(rows[0].size, rows[-1].size))
    high = max(right, *(doublings(getattr(rows[0], name), getattr(row, name)) for name, _, _ in LINES for row in rows))
    inner_width, inner_height = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN

    def at(x, y):
        return (f"{left + MARGIN + inner_width * x / right:.1f},"
                f"{top + HEIGHT - MARGIN - inner_height * max(0, y) / high:.1f}")

    yield f'<text x="{left + MARGIN}" y="{top + 20}" font-weight="bold">{html.escape(curve.title.replace("`", ""))}</text>'
    yield f'<rect x="{left + MARGIN}" y="{top + MARGIN}" width="{inner_width}" height="{inner_height}" fill="none" stroke="#ccc"/>'
    yield f'<polyline points="{at(0, 0)} {at(right, right)}" fill="none" stroke="#bbb" stroke-dasharray="4 3"/>'
    for name, _, colour in LINES:
        points = " ".join(at(doublings(rows[0].size, row.size), doublings(getattr(rows[0], name), getattr(row, name)))
                          for row in rows)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
    bottom = top + HEIGHT - MARGIN + 14
    yield f'<text x="{left + MARGIN}" y="{bottom}">{rows[0].size:,}</text>'
    yield f'<text x="{left + WIDTH - MARGIN}" y="{bottom}" text-anchor="end">{rows[-1].size:,} {curve.unit}</text>'
    yield f'<text x="{left + MARGIN - 4}" y="{top + MARGIN + 10}" text-anchor="end">x{2 ** high:,.0f}</text>'
    yield f'<text x="{left + MARGIN - 4}" y="{top + HEIGHT - MARGIN}" text-anchor="end">x1</text>'


def write(path, tables):
    height = HEIGHT * math.ceil(len(tables) / ACROSS) + 30
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * ACROSS} {height}" '
             'font-family="sans-serif" font-size="10">', '<rect width="100%" height="100%" fill="white"/>']
    for i, (_, text, colour) in enumerate(LINES):
        x = MARGIN + 110 * i
        lines += [f'<rect x="{x}" y="8" width="16" height="4" fill="{colour}"/>', f'<text x="{x + 22}" y="14">{text}</text>']
    lines.append(f'<text x="{MARGIN + 110 * len(LINES)}" y="14">dashed: in proportion to the work</text>')
    for i, (curve, rows) in enumerate(tables):
        lines += plot(curve, rows, WIDTH * (i % ACROSS), 24 + HEIGHT * (i // ACROSS))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "</svg>", ""]))
