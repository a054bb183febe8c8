"""Reports as pages that need nothing else: they ask for nothing, and run nothing.

A page has tiles with numbers, and tables that become a list of cards where the screen is narrow.
Everything that comes from files is escaped here, in `_escaped`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any, Final

from celadon.cli.report.report_model import Cell, ReportView, Section, Table, lines

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

_HEAD: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
"""


def page(title: str, style: str, body: str) -> str:
    """Return the whole document; `title` is plain text, `style` and `body` are as they are."""
    return (
        f"{_HEAD}<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def as_html(view: ReportView[Any]) -> str:
    """Return the page of a report."""
    report_page = view.page()
    parts = [part for section in report_page.sections for part in _section(section)]
    return page(report_page.title, _STYLE, "\n".join(parts))


def _section(section: Section) -> Iterator[str]:
    title = f"<h{section.depth}>{_escaped(section.title)}</h{section.depth}>"
    if section.items:
        yield f"{title}<ul>{''.join(f'<li>{_escaped(text)}</li>' for text in section.items)}</ul>"
        return
    yield title
    if section.text:
        yield f"<p>{_escaped(section.text)}</p>"
    if section.numbers:
        yield _tiles(section.numbers)
    if section.table is not None:
        yield _table(section.table)
    if section.left_out:
        yield f"<p>{_escaped(section.left_out)}</p>"


def _escaped(text: str) -> str:
    """Return somebody else's text, which does nothing but being read."""
    return escape(lines(text))


def _tiles(numbers: Iterable[tuple[str, int, str]]) -> str:
    tiles = (
        f'<div><dt>{_escaped(name)}</dt><dd class="{effect if count else ""}">{count:,}</dd></div>'
        for name, count, effect in numbers
    )
    return f"<dl>{''.join(tiles)}</dl>"


def _table(table: Table) -> str:
    """All rows; each head stands as what is below it."""
    kinds = [cell.kind.partition(" ")[0] for cell in table.rows[0]] if table.rows else []
    kinds = kinds or [""] * len(table.heads)
    head = "".join(
        f'<th class="{kind}">{_escaped(name)}</th>'
        for name, kind in zip(table.heads, kinds, strict=True)
    )
    body = "".join(f"<tr>{_cells(table.heads, row)}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(heads: Iterable[str], row: Iterable[Cell]) -> str:
    return "".join(
        f'<td class="{cell.kind}" data-head="{_escaped(name)}">{_cell(cell)}</td>'
        for name, cell in zip(heads, row, strict=True)
    )


def _cell(cell: Cell) -> str:
    below = (f"<code>{_escaped(text)}</code>" for text in cell.below if text)
    return "<br>".join([_escaped(cell.text), *below])
