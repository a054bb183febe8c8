"""What the pages of audits and replays are made of: tiles with numbers, and tables that become a
list of cards where the screen is narrow.

Everything that comes from files is escaped here, in `told`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from celadon.cli.checking.check_report import Notice, PolicyError
from celadon.cli.formats.html_page import page
from celadon.cli.formats.plain_text import lines
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

_STYLE: Final = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c2128; --dim: #5c6670; --line: #d5dae0;
  --tile: #f5f7f9; --deny: #b3261e; --warn: #875a00; --audit: #1f5f94; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --ink: #dfe4ea; --dim: #929ba6;
  --line: #333b45; --tile: #1d232a; --deny: #ff8f85; --warn: #e3b341; --audit: #7fb7e8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 75rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem; }
p { margin: .25rem 0 1rem; color: var(--dim); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); gap: .6rem;
  margin: 1rem 0; }
dl div { background: var(--tile); border-radius: 6px; padding: .5rem .8rem; }
dt { color: var(--dim); font-size: 13px; } dd { margin: 0; font-size: 1.4rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1rem; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left;
  vertical-align: top; }
th { color: var(--dim); font-size: 13px; white-space: nowrap; font-weight: 600; }
th.n { width: 5.5rem; } th.time { width: 11rem; } th.deny, th.warn, th.audit { color: var(--dim); }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.name { min-width: 9rem; } .time { white-space: nowrap; }
.deny { color: var(--deny); font-weight: 600; } .warn { color: var(--warn); font-weight: 600; }
.audit { color: var(--audit); font-weight: 600; } .none { color: var(--dim); }
code { font: 13px/1.5 ui-monospace, monospace; color: var(--dim); }
ul { padding-left: 1.2rem; }
@media (max-width: 48rem) {
  body { padding: 1rem; } thead { display: none; } table, tbody, tr { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  td { display: block; border: 0; padding: .05rem 0; }
  td.n, td.time { display: inline-block; margin-right: .9rem; text-align: left; }
  td.n::before, td.time::before { content: attr(data-head) " "; color: var(--dim);
    font-size: 13px; font-weight: normal; }
  td.name { font-weight: 600; }
}
@media print { body { max-width: none; } tr { break-inside: avoid; } }
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """Of a table: HTML, and classes of its own."""

    html: str
    kind: str = ""


def told(text: object) -> str:
    """Somebody else's text, which does nothing but being read."""
    return escape(lines(str(text)))


def named(text: object, *beside: object) -> Cell:
    """What a row is about, with what is said in small letters below."""
    return Cell("<br>".join([told(text), *_small(beside)]), "name")


def said(text: object, *beside: object) -> Cell:
    """Any text, with what is said in small letters below."""
    return Cell("<br>".join([told(text), *_small(beside)]))


def _small(texts: Iterable[object]) -> list[str]:
    return [f"<code>{told(one)}</code>" for one in texts if str(one)]


def effect(word: str) -> Cell:
    """`deny`, `warn` or `audit`, in its colour."""
    return Cell(told(word), word)


def number(count: int, word: str = "") -> Cell:
    """A count; of an effect in its colour."""
    return Cell(f"{count:,}", f"n {word if count else 'none'}".rstrip())


def time(text: str) -> Cell:
    """A time to the second, as logs have it."""
    return Cell(told(text[:19].replace("T", " ")), "time")


def tiles(counts: Iterable[tuple[str, int, str]]) -> str:
    """The numbers that matter most: what is counted, how many, and in which effect's colour."""
    made = (
        f'<div><dt>{told(name)}</dt><dd class="{word if count else ""}">{count:,}</dd></div>'
        for name, count, word in counts
    )
    return f"<dl>{''.join(made)}</dl>"


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """All rows; each head stands as what is below it."""
    made = list(rows)
    kinds = [cell.kind.partition(" ")[0] for cell in made[0]] if made else [""] * len(heads)
    head = "".join(
        f'<th class="{kind}">{told(name)}</th>' for name, kind in zip(heads, kinds, strict=True)
    )
    body = "".join(f"<tr>{_cells(heads, row)}</tr>" for row in made)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(heads: Sequence[str], row: Sequence[Cell]) -> str:
    return "".join(
        f'<td class="{cell.kind}" data-head="{told(name)}">{cell.html}</td>'
        for name, cell in zip(heads, row, strict=True)
    )


def all_remarks(
    errors: Iterable[PolicyError], notices: Iterable[Notice], problems: Iterable[Problem]
) -> Iterator[str]:
    """What went wrong, or by without a word, as lists with headings."""
    yield _listed("Broken policies", (f"{one.place}  {one.message}" for one in errors))
    yield _listed("Notices", map(_noted, notices))
    yield _listed("Not read", (one.text() for one in problems))


def _noted(one: Notice) -> str:
    place = f"{one.place}  " if one.place.file else ""
    return f"{place}{one.message}" + (f" ({one.help})" if one.help else "")


def _listed(title: str, texts: Iterable[str]) -> str:
    items = "".join(f"<li>{told(text)}</li>" for text in texts)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def report_page(title: str, parts: Iterable[str]) -> str:
    """The whole document."""
    return page(title, _STYLE, "\n".join(part for part in parts if part))
