"""The report for people.

First what is refused: the sentence the API server would send, then where the rule is written and
which object failed. Then warnings, notices, a table with a line per object, and a summary.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.cli.checking.check_report import (
    Fault,
    Mutated,
    Notice,
    ObjectResult,
    Outcome,
    PolicyError,
    Report,
    State,
    Violation,
    WebhookCall,
)
from celadon.cli.formats.object_diffs import diff_lines
from celadon.cli.formats.plain_text import one_line
from celadon.records import dataclass

_MOST_ROWS: Final = 50
"""Objects up to which the table also lists those that were simply admitted."""

_WORTH_A_ROW: Final = frozenset({State.WARNED, State.UNASKED})
"""Besides those refused, what the table always lists."""

_WEBHOOK_STYLES: Final = {
    Outcome.DENIED: "denied",
    Outcome.FAILED: "error",
    Outcome.IGNORED: "warning",
    Outcome.UNASKED: "unasked",
}

_STYLES: Final = {
    "denied": "31;1",
    "error": "31;1",
    "invalid": "31;1",
    "warned": "33;1",
    "warning": "33;1",
    "mutated": "35;1",
    "notice": "36;1",
    "admitted": "32",
    "untouched": "2",
    "unchanged": "2",
    "unasked": "36;1",
    "dim": "2",
    "bold": "1",
}


@dataclass(frozen=True, slots=True)
class Look:
    """How much to say, and whether in colour. `verbosity` is -1 for `-q`, 1 and more for `-v`;
    `mutations` shows each mutation by itself."""

    color: bool = False
    verbosity: int = 0
    mutations: bool = False

    def paint(self, style: str, text: str) -> str:
        """The text in the colour of a style."""
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self.color else text


def render(report: Report, look: Look) -> str:
    """The whole text, ending with a line end unless there is nothing to say."""
    blocks = [*_refusals(report, look)]
    if look.verbosity >= 0:
        blocks += _mutations(report, look)
        blocks += _warnings(report, look)
    if look.verbosity >= 0 or report.strict:
        blocks += notice_lines(report.notices, look, strict=report.strict)
    if look.verbosity >= 0:
        blocks += _table(report, look)
        blocks.append([_summary(report)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n" if blocks else ""


def _refusals(report: Report, look: Look) -> Iterator[list[str]]:
    yield from policy_error_lines(report.policy_errors, look)
    for result in report.objects:
        if result.is_refused:
            yield _refusal(result, look)


def policy_error_lines(errors: Iterable[PolicyError], look: Look) -> Iterator[list[str]]:
    """A block for each policy that cannot be used."""
    for error in errors:
        yield [
            f"{look.paint('error', 'error:')} {error.message}",
            f"  {_part(error.kind):8}{error.place}",
        ]


def _part(kind: str) -> str:
    """What plays the part of a policy, in a word of at most seven characters."""
    if kind.endswith("Binding"):
        return "binding"
    return "webhook" if kind.endswith("WebhookConfiguration") else "policy"


def _refusal(result: ObjectResult, look: Look) -> list[str]:
    word = result.state.value
    lines = [f"{look.paint(word, f'{word}:')} {result.sentence}"]
    lines += [f"  field   {fault.place}  {fault.field}{_meant(fault)}" for fault in result.faults]
    lines += _rule(result.denial) if result.denial is not None else []
    lines += [f"  webhook {call.place}  {call.configuration}" for call in result.denying]
    lines.append(f"  object  {result.place}  {result.title}{_as_mutated(result)}")
    for violation in result.violations:
        if not violation.denies or violation == result.denial:
            continue
        lines.append(f"  also    {_by(violation)}: {_first_line(violation.message)}")
        lines += _rule(violation)
    return lines


def _meant(fault: Fault) -> str:
    return f", did you mean `{fault.meant}`?" if fault.meant else ""


def _rule(violation: Violation) -> list[str]:
    if not violation.rule.file:
        return []
    param = f"  params {violation.param}" if violation.param else ""
    return [f"  rule    {violation.rule}  {violation.field}{param}"]


def _by(violation: Violation) -> str:
    binding = f"/{violation.binding}" if violation.binding else ""
    return f"{violation.policy}{binding}"


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]


def _as_mutated(result: ObjectResult) -> str:
    """That what was judged is not what is in the file."""
    if result.mutated is None:
        return ""
    return f" as mutated by {', '.join(result.mutated.policies)}"


def _mutations(report: Report, look: Look) -> Iterator[list[str]]:
    for result in report.objects:
        if result.mutated is not None:
            yield _mutation(result, result.mutated, look)


def _mutation(result: ObjectResult, mutated: Mutated, look: Look) -> list[str]:
    lines = [
        f"{look.paint('mutated', 'mutated:')} {result.title} by {', '.join(mutated.policies)}",
        f"  object  {result.place}",
    ]
    if not look.mutations:
        return lines + _diff(mutated.before, mutated.after, look)
    for step in mutated.steps:
        again = "  (asked again)" if step.round else ""
        param = f"  params {step.param}" if step.param else ""
        lines.append(f"  rule    {step.rule}  {step.field}{param}{again}")
        lines += _diff(step.before, step.after, look)
    return lines


def _diff(before: Mapping[str, Any], after: Mapping[str, Any], look: Look) -> list[str]:
    styles = {"+": "admitted", "-": "denied", "@": "dim"}
    return [
        "    " + (look.paint(styles[line[0]], line) if line[:1] in styles else line)
        for line in map(one_line, diff_lines(before, after))
    ]


def _warnings(report: Report, look: Look) -> Iterator[list[str]]:
    for result in report.objects:
        for warning in result.warnings:
            lines = [f"{look.paint('warning', 'warning:')} {warning.text}"]
            for violation in warning.violations:
                lines += _rule(violation)
            lines.append(f"  object  {result.place}  {result.title}{_as_mutated(result)}")
            yield lines


def notice_lines(notices: Iterable[Notice], look: Look, *, strict: bool) -> Iterator[list[str]]:
    """What went by in silence, as one block, if anything did."""
    lines = []
    for notice in notices:
        place = f"{notice.place}: " if notice.place.file else ""
        style, word = ("error", "strict:") if strict else ("notice", "notice:")
        lines.append(f"{look.paint(style, word)} {place}{notice.message}")
        if notice.help:
            lines.append(f"  {notice.help}")
    if lines:
        yield lines


def _table(report: Report, look: Look) -> Iterator[list[str]]:
    everything = look.verbosity > 0 or len(report.objects) <= _MOST_ROWS
    shown = [
        result
        for result in report.objects
        if everything or result.is_refused or result.state in _WORTH_A_ROW
    ]
    if not shown:
        return
    rows = [
        (result.state.value, result.title, str(result.policies), str(result.place))
        for result in shown
    ]
    header = ("VERDICT", "OBJECT", "POLICIES", "FILE")
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(3)]
    lines = [_row(header, widths)]
    for result, row in zip(shown, rows, strict=True):
        line = _row(row, widths)
        state = row[0]
        lines.append(look.paint(state, state) + line[len(state) :])
        lines += [_webhook(call, look) for call in result.webhooks]
        if look.verbosity > 0:
            lines += [
                f"  audit   {key}: {value}" for key, value in result.audit_annotations.items()
            ]
    yield lines


def _webhook(call: WebhookCall, look: Look) -> str:
    """A webhook that the object of the row above is sent to."""
    style = _WEBHOOK_STYLES.get(call.outcome, "admitted")
    again = ", again" if call.again else ""
    outcome = look.paint(style, call.outcome.value)
    line = f"  {call.phase} webhook {call.webhook}: {outcome}{again}  {call.place}"
    if look.verbosity <= 0:
        return line
    changes = [f"    patch {json.dumps(dict(one), ensure_ascii=False)}" for one in call.patch]
    why = [f"    {_first_line(call.message)}"] if call.outcome is Outcome.IGNORED else []
    return "\n".join([line, *why, *changes])


def _row(cells: tuple[str, ...], widths: list[int]) -> str:
    verdict, title, policies, place = cells
    return f"{verdict:{widths[0]}}  {title:{widths[1]}}  {policies:>{widths[2]}}  {place}"


def _summary(report: Report) -> str:
    denied, warned = report.count(State.DENIED), report.count(State.WARNED)
    untouched, invalid = report.count(State.UNTOUCHED), report.count(State.INVALID)
    unasked = report.count(State.UNASKED)
    parts = [f"{report.admitted} admitted", f"{denied} denied"]
    if invalid:
        parts.append(f"{invalid} invalid")
    if warned:
        parts[0] += f" ({warned} with warnings)"
    if unasked:
        parts.append(f"{unasked} up to webhooks that were not asked")
    if untouched:
        parts.append(f"{untouched} matched by no policy")
    if unchanged := report.count(State.UNCHANGED):
        parts.append(f"{unchanged} unchanged")
    broken = f", {_count(len(report.policy_errors), 'broken')}" if report.policy_errors else ""
    unread = f", {_count(len(report.problems), 'unreadable')}" if report.problems else ""
    webhooks = f", {plural(report.webhooks, 'webhook')}" if report.webhooks else ""
    return (
        f"{plural(len(report.objects), 'object')}: {', '.join(parts)}{broken}{unread}"
        f" ({plural(report.policies, 'policy')}, {plural(report.bindings, 'binding')}{webhooks})"
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}"


def plural(number: int, noun: str) -> str:
    """`1 policy`, `2 policies`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
