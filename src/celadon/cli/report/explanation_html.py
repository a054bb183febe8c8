"""Explanations as one page: trees that fold, expressions whose parts are coloured by their values.

The page asks nothing of anybody: no scripts, no pictures, no fonts from elsewhere, and a policy of
its own that forbids them. Whatever is in it from files is escaped here, in one function.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Final

from celadon.cli.explain.annotated_source import Loop, Mark, Snippet, State
from celadon.cli.explain.outline import Item, outline
from celadon.cli.explain.value_texts import brief
from celadon.cli.report.explanation_view import ExplanationView
from celadon.cli.report.html_pages import page
from celadon.cli.report.plain_text import snippet

_ROOM: Final = 400
"""Characters of a value in the tree of parts."""

_STYLE: Final = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c2128; --dim: #67707b; --line: #d5dae0;
  --code: #f5f7f9; --good: #116329; --bad: #b3261e; --warning: #875a00; --good-back: #dcf3e2;
  --bad-back: #fbe3e1; --idle-back: #e8ebee; --value-back: #e3edfb; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --ink: #dfe4ea; --dim: #929ba6;
  --line: #333b45; --code: #1d232a; --good: #6fd08c; --bad: #ff8f85; --warning: #e3b341;
  --good-back: #173d25; --bad-back: #52211e; --idle-back: #2a3037; --value-back: #1d3354; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 75rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 1.5rem 0 .25rem; }
h1 small, .line { color: var(--dim); font-weight: normal; }
details { margin: .15rem 0 .15rem .3rem; padding-left: .9rem; border-left: 2px solid var(--line); }
summary { cursor: pointer; }
p { margin: .15rem 0 .15rem 1.45rem; overflow-wrap: anywhere; }
.label { font-weight: 600; }
.good > .text { color: var(--good); } .bad > .text { color: var(--bad); font-weight: 600; }
.warning > .text { color: var(--warning); } .idle { color: var(--dim); }
pre, .value { font: 13px/1.7 ui-monospace, monospace; }
pre { margin: .3rem 0 .3rem 1.4rem; padding: .5rem .75rem; background: var(--code);
  border-radius: 6px; overflow-x: auto; }
.parts { font: 13px/1.6 ui-monospace, monospace; margin: 0 0 .4rem 1.4rem; padding: 0;
  list-style: none; }
.parts .parts { margin-bottom: 0; border-left: 1px solid var(--line); padding-left: .6rem;
  margin-left: .4rem; }
.parts code { font: inherit; } .parts b { font-weight: 600; } .parts i { color: var(--dim); }
.true { background: var(--good-back); border-radius: 3px; }
.false { background: var(--bad-back); border-radius: 3px; }
.value { background: var(--value-back); border-radius: 3px; padding: 0 .2rem; }
b.true, b.false { padding: 0 .2rem; }
.error { color: var(--bad); text-decoration: underline wavy; }
.skipped { color: var(--dim); text-decoration: line-through; text-decoration-thickness: 1px; }
li .error, li .skipped { text-decoration: none; } .passed { color: var(--bad); }
"""


def as_html(view: ExplanationView) -> str:
    """The whole page."""
    items = list(map(outline, view.report))
    title = ", ".join(one.label for one in items[:3])
    body = "\n".join(line for one in items for line in _object(one))
    return page(f"{snippet(title)}: why", _STYLE, body)


def _text(text: str) -> str:
    return html.escape("\n".join(map(snippet, text.split("\n"))))


def _object(one: Item) -> Iterator[str]:
    yield f'<h1 class="{one.style.value}">{_text(one.label)}: '
    yield f'<span class="text">{_text(one.text)}</span></h1>'
    yield from _lines(one)
    for inner in one.items:
        yield from _item(inner)


def _lines(one: Item) -> Iterator[str]:
    for line in one.lines:
        yield f'<p class="line">{_text(line)}</p>'


def _item(one: Item) -> Iterator[str]:
    text = f'<span class="text">{_text(one.text)}</span>' if one.text else ""
    head = f'<span class="label">{_text(one.label)}</span> {text}'
    if not (one.lines or one.items or one.snippet or one.source):
        yield f'<p class="{one.style.value}">{head}</p>'
        return
    opened = " open" if one.opens else ""
    yield f"<details{opened}><summary class={one.style.value!r}>{head}</summary>"
    yield from _lines(one)
    if one.snippet is not None:
        yield from _snippet(one.snippet, opens=True)
    if one.source:
        yield f'<pre class="idle">{_text(one.source)}</pre>'
    for inner in one.items:
        yield from _item(inner)
    yield "</details>"


# --- expressions ------------------------------------------------------------------------------


def _snippet(one: Snippet, *, opens: bool = False) -> Iterator[str]:
    yield f"<pre>{_coloured(one)}</pre>"
    yield f"<details{' open' if opens else ''}><summary>parts</summary>"
    for mark in one.marks:
        yield from _tree([mark], one.text)
    yield "</details>"
    for loop in one.loops:
        yield from _loop(loop, one.text, opens=opens)


def _coloured(one: Snippet) -> str:
    """The text, each part in an element that shows its value to whoever points at it."""
    found: list[str] = []
    at = one.start
    for mark in one.marks:
        found.append(_text(one.text[at : mark.start]))
        found.append(_span(mark, one.text))
        at = mark.end
    return "".join(found) + _text(one.text[at : one.end])


def _span(mark: Mark, text: str) -> str:
    inner: list[str] = []
    at = mark.start
    for part in mark.parts:
        inner.append(_text(text[at : part.start]))
        inner.append(_span(part, text))
        at = part.end
    inner.append(_text(text[at : mark.end]))
    body = "".join(inner)
    if mark.is_literal:
        return body
    title = html.escape(f"{text[mark.start : mark.end]}\n= {_shown(mark)}")
    return f'<span class="{_class(mark)}" title="{title}">{body}</span>'


def _class(mark: Mark) -> str:
    if mark.state is State.SKIPPED:
        return "skipped"
    if mark.state is not State.VALUE:
        return "error" if mark.state is State.ERROR else "passed"
    if mark.value is True or mark.value is False:
        return str(mark.value).lower()
    return ""


def _shown(mark: Mark) -> str:
    return mark.state.value if mark.state is State.SKIPPED else brief(mark.value, _ROOM)


def _tree(marks: Sequence[Mark], text: str) -> Iterator[str]:
    told = [mark for mark in marks if not mark.is_literal]
    if not told:
        return
    yield '<ul class="parts">'
    for mark in told:
        cost = f" <i>cost {mark.cost:,}</i>" if mark.cost else ""
        shown = f'<b class="{_class(mark) or "value"}">{_text(_shown(mark))}</b>'
        yield f"<li><code>{_text(text[mark.start : mark.end])}</code> {shown}{cost}"
        if mark.state is not State.SKIPPED:
            yield from _tree(mark.parts, text)
        yield "</li>"
    yield "</ul>"


def _loop(loop: Loop, text: str, *, opens: bool) -> Iterator[str]:
    rounds = "1 round" if loop.count == 1 else f"{loop.count:,} rounds"
    macro = _text(text[loop.start : loop.end])
    opened = " open" if opens else ""
    yield f"<details{opened}><summary>{rounds} of <code>{macro}</code></summary>"
    for one in loop.rounds:
        named = ", ".join(f"{name} = {brief(value, _ROOM)}" for name, value in one.variables)
        yield f"<details open><summary>{one.number}: {_text(named)}</summary>"
        yield from _snippet(one.snippet)
        yield "</details>"
    yield "</details>"
