"""The plot: one row for each expression, one mark for each engine, time on a logarithmic axis.

Written as SVG by hand: axes, marks, a legend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

from bench.evaluation import BY_HAND, CELADON, METERED, fresh, shared
from bench.peers import PEERS
from bench.results import Results, engines

_LEFT: Final = 180
_WIDTH: Final = 900
_TOP: Final = 96
_ROW: Final = 15
_RIGHT: Final = 24

_PEER_COLOURS: Final = ("#b5543c", "#3a6ea5", "#7a5ba6")


def _marks() -> dict[str, tuple[str, bool]]:
    """Colours of the engines, and whether their marks are hollow."""
    marks = {BY_HAND: ("#444444", False), CELADON: ("#2a9d6f", False), METERED: ("#2a9d6f", True)}
    for peer, colour in zip(PEERS, _PEER_COLOURS, strict=True):
        marks[fresh(peer)] = (colour, False)
        marks[shared(peer)] = (colour, True)
    return marks


def svg(results: Results) -> str:
    """The whole drawing."""
    names = engines(results)
    times = [
        seconds
        for outcome in results.outcomes
        for name in names
        if (seconds := outcome.timings.best(name)) is not None
    ]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    height = _TOP + _ROW * len(results.outcomes) + 16

    def x(seconds: float) -> float:
        share = (math.log10(seconds) - low) / (high - low)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        f' width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        *_legend(names),
        *(_grid_line(x(10.0**power), power, height) for power in range(low, high + 1)),
    ]
    for row, outcome in enumerate(results.outcomes):
        y = _TOP + _ROW * row + _ROW / 2
        lines.append(
            f'<text x="{_LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">'
            f"{escape(outcome.case.name)}</text>"
        )
        for name in reversed(names):
            seconds = outcome.timings.best(name)
            if seconds is not None:
                lines.append(_mark(x(seconds), y, name))
    return "\n".join([*lines, "</svg>", ""])


def _mark(x: float, y: float, name: str) -> str:
    colour, hollow = _marks()[name]
    fill = "#ffffff" if hollow else colour
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}"/>'


def _grid_line(x: float, power: int, height: int) -> str:
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4}" y2="{height - 12}" stroke="#dddddd"/>'
        f'<text x="{x:.1f}" y="{_TOP - 8}" text-anchor="middle" fill="#666666">'
        f"{_duration(power)}</text>"
    )


def _duration(power: int) -> str:
    for unit, exponent in (("s", 0), ("ms", -3), ("µs", -6), ("ns", -9)):
        if power >= exponent:
            return f"{10 ** (power - exponent)} {unit}"
    return f"1e{power} s"


def _legend(names: Sequence[str]) -> list[str]:
    lines = []
    for number, name in enumerate(names):
        x, y = 20 + (number % 3) * 292, 18 + (number // 3) * 20
        lines.append(_mark(x, y, name))
        lines.append(f'<text x="{x + 10}" y="{y + 4}">{escape(name)}</text>')
    return lines
