"""Explanations, as renderers see them: on a terminal, as data, as a page.

For people at a terminal: items within items, expressions with values under them.

    object.spec.replicas <= 5 && has(object.spec.paused)
    |      |    |        |  |  |
    |      |    7        |  |  false
    |      {2 keys}      false
    {4 keys}

A value stands under the name or operator it belongs to; long lines of an expression are cut where a
space is. Nothing is wider than the page, as long as words allow.

For programs: the whole tree, where values of the language are texts in its own notation (`1u`,
`duration("90s")`), which tells types apart; long ones end in an ellipsis. Fields of policies are
paths.
"""

from __future__ import annotations

import enum
import html
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from celadon import admission
from celadon.admission.explain import Explanation, ExpressionRun, HookExplanation
from celadon.admission.policies.mutating import Change
from celadon.admission.registration import MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding
from celadon.cel import EvaluationError
from celadon.cli import annotated_source
from celadon.cli.check.recorded_requests import ExplainedObject
from celadon.cli.reading.documents import Problem
from celadon.cli.report import report_model as model
from celadon.cli.report.explanation_outline import Item, Style, outline
from celadon.cli.report.html_pages import page
from celadon.kube import GroupVersionKind, GroupVersionResource, Json, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import patch_between

_ROOM: Final = 4_000
"""Characters of a value for programs."""
_WIDTH: Final = 100
_INDENT: Final = "  "
_LEAST: Final = 40
"""Columns that an expression gets, however deep it stands."""
_VALUE: Final = 32
"""Columns of a value under its part."""
_FIRST_ROUNDS: Final = 3
"""Rounds of a loop that are shown besides the last."""

_COLORS: Final = {
    Style.GOOD: "32",
    Style.BAD: "31;1",
    Style.WARNING: "33;1",
    Style.IDLE: "2",
}
_STATES: Final = {annotated_source.State.ERROR: "31;1", annotated_source.State.SKIPPED: "2"}


class ExplanationView(model.ReportView[Sequence[ExplainedObject]]):
    """Explanations of objects."""

    command = "celadon explain"

    @property
    def problems(self) -> Sequence[Problem]:
        """Return None: the command itself tells of inputs that could not be read."""
        return ()

    def text(self, look: model.ReportStyle) -> str:
        """Return all objects, one behind the other."""
        page = _Page(look.color)
        items = map(outline, self.report)
        return "\n\n".join("\n".join(page.item(item, 0)) for item in items) + "\n"

    def data(self) -> JsonDict:
        """Return one document for all objects."""
        return {"objects": model.data(list(self.report), _SHAPES)}


class _Page:
    def __init__(self, color: bool) -> None:  # noqa: FBT001 - the one thing it is made with
        self._color = color

    def item(self, item: Item, depth: int) -> Iterator[str]:
        """Yield an item with all that belongs to it."""
        indent = _INDENT * depth
        text = f": {model.one_line(item.text)}" if item.text else ""
        first, *rest = _wrapped(f"{model.one_line(item.label)}{text}", indent)
        yield self._headed(first, item, indent)
        yield from rest
        for line in item.lines:
            yield from _wrapped(model.one_line(line), indent + _INDENT)
        if item.snippet is not None:
            yield from self._snippet(item.snippet, indent + _INDENT)
        for line in item.source.splitlines():
            yield f"{indent}{_INDENT}{self._paint('2', model.snippet(line))}"
        for inner in item.items:
            yield from self.item(inner, depth + 1)

    def _headed(self, line: str, item: Item, indent: str) -> str:
        """Return the first line of an item, what became of it in its colour."""
        color = _COLORS.get(item.style)
        label = f"{indent}{model.one_line(item.label)}"
        if color is None or not line.startswith(label):
            return line
        if item.style is Style.IDLE or not item.text:
            return indent + self._paint(color, line.removeprefix(indent))
        return f"{label}: {self._paint(color, line.removeprefix(f'{label}: '))}"

    def _paint(self, color: str, text: str) -> str:
        return f"\033[{color}m{text}\033[0m" if self._color and text else text

    # --- expressions ---

    def _snippet(self, snippet: annotated_source.Snippet, indent: str) -> Iterator[str]:
        width = max(_WIDTH - len(indent), _LEAST)
        marks = [mark for outer in snippet.marks for mark in _shown(outer, snippet.text)]
        for start, end in _lines(snippet, width):
            yield indent + model.snippet(snippet.text[start:end]).rstrip()
            line_marks = [m for m in marks if start <= m.offset < end and not m.is_literal]
            for row in self._rows(line_marks, start, width):
                yield indent + row
        for loop in snippet.loops:
            yield from self._loop(snippet.text, loop, indent)

    def _loop(self, text: str, loop: annotated_source.Loop, indent: str) -> Iterator[str]:
        macro = annotated_source.shortened(" ".join(text[loop.start : loop.end].split()), 60)
        rounds = model.plural(loop.count, "round")
        yield f"{indent}{self._paint('2', f'{rounds} of {model.snippet(macro)}')}"
        first_rounds = loop.rounds[:_FIRST_ROUNDS]
        last = loop.rounds[_FIRST_ROUNDS:][-1:]
        for loop_round in (*first_rounds, *last):
            if loop_round in last and loop_round.number > _FIRST_ROUNDS + 1:
                yield f"{indent}{_INDENT}{self._paint('2', '...')}"
            room = max(_WIDTH - len(indent) - 20, _LEAST) // len(loop_round.variables)
            named = (
                f"{name} = {annotated_source.brief(value, room)}"
                for name, value in loop_round.variables
            )
            yield f"{indent}{_INDENT}{loop_round.number}: {model.one_line(', '.join(named))}"
            yield from self._snippet(loop_round.snippet, indent + _INDENT * 2)

    def _rows(
        self, marks: Sequence[annotated_source.Mark], start: int, width: int
    ) -> Iterator[str]:
        """Bars, then the values, the last one first; as many in a row as do not touch."""
        pending = sorted((mark.offset - start, _value(mark, width), mark.state) for mark in marks)
        if pending:
            yield _at([(column, "|", "|") for column, _, _ in pending])
        while pending:
            row: list[tuple[int, str, str]] = []
            later = []
            edge = max(width, pending[-1][0] + len(pending[-1][1]))
            for column, text, state in reversed(pending):
                if column + len(text) <= edge:
                    row.append((column, text, self._paint(_STATES.get(state, ""), text)
                                if state in _STATES else text))  # fmt: skip
                else:
                    row.append((column, "|", "|"))
                    later.append((column, text, state))
                edge = column - 1
            yield _at(row[::-1])
            pending = later[::-1]


def _at(texts: Sequence[tuple[int, str, str]]) -> str:
    """Return a line with texts in columns, each as it is counted and as it is written."""
    line, width = "", 0
    for column, text, painted in texts:
        line += " " * (column - width) + painted
        width = column + len(text)
    return line


def _shown(mark: annotated_source.Mark, text: str) -> Iterator[annotated_source.Mark]:
    """Yield the parts with something to say: not literals inside of others, not what passes an
    error on, not what is inside of something that was not evaluated."""
    if mark.state is annotated_source.State.SKIPPED:
        if any(map(str.isalnum, text[mark.start : mark.end])):
            yield mark
        return
    if mark.state is not annotated_source.State.PASSED_ON:
        yield mark
    for part in mark.parts:
        if not part.is_literal:
            yield from _shown(part, text)


def _value(mark: annotated_source.Mark, width: int) -> str:
    if mark.state is annotated_source.State.SKIPPED:
        return "not evaluated"
    room = width if mark.state is annotated_source.State.ERROR else _VALUE
    text = annotated_source.brief(mark.value, room)
    size = annotated_source.size_text(mark.value)
    return model.one_line(
        size if size and (len(text) > room or "\N{HORIZONTAL ELLIPSIS}" in text) else text
    )


def _lines(snippet: annotated_source.Snippet, width: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a snippet, from an offset to another; those that are too long in
    pieces."""
    start = snippet.start
    for line in snippet.text[snippet.start : snippet.end].split("\n"):
        index, end = start, start + len(line)
        while end - index > width:
            cut = snippet.text.rfind(" ", index + width // 3, index + width)
            cut = index + width if cut < 0 else cut + 1
            yield index, cut
            index = cut
        yield index, end
        start = end + 1


def _wrapped(text: str, indent: str) -> list[str]:
    """Break a text into lines no wider than the page; those behind the first go further in."""
    return textwrap.wrap(
        text,
        max(_WIDTH, len(indent) + _LEAST),
        initial_indent=indent,
        subsequent_indent=indent + _INDENT * 2,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [indent]


# --- for programs ---------------------------------------------------------------------------------


def _run_data(run: ExpressionRun) -> JsonObject:
    return model.filled(
        field=run.expression.source.path.text,
        **_value_data(run.value),
        cost=run.cost,
        charged=run.charged,
        variables=[variable.expression.source.path.text for variable in run.variables],
        **_snippet_data(annotated_source.annotated(run)),
    )


def _snippet_data(snippet: annotated_source.Snippet) -> dict[str, object]:
    return {
        "parts": [_mark_data(mark, snippet.text) for mark in snippet.marks],
        "loops": [_loop_data(loop, snippet.text) for loop in snippet.loops],
    }


def _mark_data(mark: annotated_source.Mark, text: str) -> JsonObject:
    return model.filled(
        text=text[mark.start : mark.end],
        start=mark.start,
        end=mark.end,
        **(
            {"evaluated": False}
            if mark.state is annotated_source.State.SKIPPED
            else _value_data(mark.value)
        ),
        cost=mark.cost,
        parts=[_mark_data(part, text) for part in mark.parts],
    )


def _loop_data(loop: annotated_source.Loop, text: str) -> dict[str, Json]:
    return {
        "text": text[loop.start : loop.end],
        "count": loop.count,
        "rounds": [_round_data(each) for each in loop.rounds],
    }


def _round_data(loop_round: annotated_source.Round) -> JsonObject:
    variables = {name: annotated_source.brief(value, _ROOM) for name, value in loop_round.variables}
    return {
        "number": loop_round.number,
        "variables": variables,
        **model.filled(**_snippet_data(loop_round.snippet)),
    }


def _value_data(value: object) -> dict[str, str]:
    if isinstance(value, EvaluationError):
        return {"error": value.message}
    return {"value": annotated_source.brief(value, _ROOM)}


def _members(value: GroupVersionKind | GroupVersionResource) -> dict[str, str]:
    return dict(zip(value._fields, value, strict=True))


def _policy(value: admission.ValidatingAdmissionPolicy | MutatingAdmissionPolicy) -> dict[str, str]:
    return {"kind": type(value).__name__, "name": value.name}


_BINDING: Final = ("name", "actions=spec.validation_actions")
_SHAPES: Final[model.Shapes] = {
    ExplainedObject: (
        "object=result.title",
        ("place", lambda value: str(value.result.place)),
        *("verdict=result.state", "code=result.code", "message=result.sentence"),
        "plugin=result.plugin",
        ("generatedBy", lambda value: value.result.created_by and value.result.created_by.title),
        ("warnings", lambda value: [warning.text for warning in value.result.warnings]),
        *("auditAnnotations=result.audit_annotations", "request=validation.request"),
        *("mutating=mutation", "validating=validation", "mutatingWebhooks=mutating_hooks"),
        "validatingWebhooks=validating_hooks",
    ),
    admission.Request: (
        ("operation", lambda value: value.operation.value),
        *("kind", "resource", "subresource", "namespace", "name", "user=user.name"),
        "groups=user.groups",
    ),
    Explanation: ("exempt", "policies"),
    HookExplanation: (
        *("name=hook.name", "configuration=hook.configuration"),
        ("failurePolicy", lambda value: "Ignore" if value.hook.ignores_failures else "Fail"),
        *("asked=is_asked", "match", "matchConditions=conditions", "budgets", "ignored"),
        ("refusal", lambda value: value.refusal and str(value.refusal)),
    ),
    enum.Enum: lambda value: model.camel(value.name.lower()),
    admission.Source: lambda value: value.path.text,
    GroupVersionKind: _members,
    GroupVersionResource: _members,
    ExpressionRun: _run_data,
    admission.ValidatingAdmissionPolicy: _policy,
    MutatingAdmissionPolicy: _policy,
    admission.ValidatingAdmissionPolicyBinding: _BINDING,
    MutatingAdmissionPolicyBinding: _BINDING,
    Change: lambda value: {"patch": list(patch_between(value.before, value.after))},
}


# --- Explanations as one page ------------------------------------------------
#
# Explanations as one page: trees that fold, expressions whose parts are coloured by their values.
#
# The page asks nothing of anybody: no scripts, no pictures, no fonts from elsewhere, and a policy
# of its own that forbids them. Whatever is in it from files is escaped here, in one function.

_PAGE_ROOM: Final = 400
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
    """Return the whole page."""
    items = list(map(outline, view.report))
    title = ", ".join(item.label for item in items[:3])
    body = "\n".join(line for item in items for line in _object(item))
    return page(f"{model.snippet(title)}: why", _STYLE, body)


def _text(text: str) -> str:
    return html.escape("\n".join(map(model.snippet, text.split("\n"))))


def _object(item: Item) -> Iterator[str]:
    yield f'<h1 class="{item.style.value}">{_text(item.label)}: '
    yield f'<span class="text">{_text(item.text)}</span></h1>'
    yield from _item_lines(item)
    for inner in item.items:
        yield from _item(inner)


def _item_lines(item: Item) -> Iterator[str]:
    for line in item.lines:
        yield f'<p class="line">{_text(line)}</p>'


def _item(item: Item) -> Iterator[str]:
    text = f'<span class="text">{_text(item.text)}</span>' if item.text else ""
    head = f'<span class="label">{_text(item.label)}</span> {text}'
    if not (item.lines or item.items or item.snippet or item.source):
        yield f'<p class="{item.style.value}">{head}</p>'
        return
    opened = " open" if item.opens else ""
    yield f"<details{opened}><summary class={item.style.value!r}>{head}</summary>"
    yield from _item_lines(item)
    if item.snippet is not None:
        yield from _snippet(item.snippet, opens=True)
    if item.source:
        yield f'<pre class="idle">{_text(item.source)}</pre>'
    for inner in item.items:
        yield from _item(inner)
    yield "</details>"


# --- expressions ------------------------------------------------------------------------------


def _snippet(snippet: annotated_source.Snippet, *, opens: bool = False) -> Iterator[str]:
    yield f"<pre>{_coloured(snippet)}</pre>"
    yield f"<details{' open' if opens else ''}><summary>parts</summary>"
    for mark in snippet.marks:
        yield from _tree([mark], snippet.text)
    yield "</details>"
    for loop in snippet.loops:
        yield from _loop(loop, snippet.text, opens=opens)


def _coloured(snippet: annotated_source.Snippet) -> str:
    """Return the text, each part in an element that shows its value to whoever points at it."""
    result: list[str] = []
    index = snippet.start
    for mark in snippet.marks:
        result.append(_text(snippet.text[index : mark.start]))
        result.append(_span(mark, snippet.text))
        index = mark.end
    return "".join(result) + _text(snippet.text[index : snippet.end])


def _span(mark: annotated_source.Mark, text: str) -> str:
    inner: list[str] = []
    index = mark.start
    for part in mark.parts:
        inner.append(_text(text[index : part.start]))
        inner.append(_span(part, text))
        index = part.end
    inner.append(_text(text[index : mark.end]))
    body = "".join(inner)
    if mark.is_literal:
        return body
    title = html.escape(f"{text[mark.start : mark.end]}\n= {_mark_text(mark)}")
    return f'<span class="{_class(mark)}" title="{title}">{body}</span>'


def _class(mark: annotated_source.Mark) -> str:
    if mark.state is annotated_source.State.SKIPPED:
        return "skipped"
    if mark.state is not annotated_source.State.VALUE:
        return "error" if mark.state is annotated_source.State.ERROR else "passed"
    if mark.value is True or mark.value is False:
        return str(mark.value).lower()
    return ""


def _mark_text(mark: annotated_source.Mark) -> str:
    return (
        mark.state.value
        if mark.state is annotated_source.State.SKIPPED
        else annotated_source.brief(mark.value, _PAGE_ROOM)
    )


def _tree(marks: Sequence[annotated_source.Mark], text: str) -> Iterator[str]:
    values = [mark for mark in marks if not mark.is_literal]
    if not values:
        return
    yield '<ul class="parts">'
    for mark in values:
        cost = f" <i>cost {mark.cost:,}</i>" if mark.cost else ""
        message = f'<b class="{_class(mark) or "value"}">{_text(_mark_text(mark))}</b>'
        yield f"<li><code>{_text(text[mark.start : mark.end])}</code> {message}{cost}"
        if mark.state is not annotated_source.State.SKIPPED:
            yield from _tree(mark.parts, text)
        yield "</li>"
    yield "</ul>"


def _loop(loop: annotated_source.Loop, text: str, *, opens: bool) -> Iterator[str]:
    rounds = "1 round" if loop.count == 1 else f"{loop.count:,} rounds"
    macro = _text(text[loop.start : loop.end])
    opened = " open" if opens else ""
    yield f"<details{opened}><summary>{rounds} of <code>{macro}</code></summary>"
    for loop_round in loop.rounds:
        named = ", ".join(
            f"{name} = {annotated_source.brief(value, _PAGE_ROOM)}"
            for name, value in loop_round.variables
        )
        yield f"<details open><summary>{loop_round.number}: {_text(named)}</summary>"
        yield from _snippet(loop_round.snippet)
        yield "</details>"
    yield "</details>"
