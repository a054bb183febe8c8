"""The report for people.

First what is refused: the sentence the API server would send, then where the rule is written and
which objects failed: those that differ in nothing else are one block. Then warnings, notices, a
table with a line per object, and a summary.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.cli.checking.check_report import (
    ClientWarning,
    Fault,
    Mutated,
    Notice,
    ObjectResult,
    Outcome,
    PolicyError,
    Report,
    State,
    UnaskedPlugin,
    Violation,
    WebhookCall,
)
from celadon.cli.formats.object_diffs import diff_lines
from celadon.cli.formats.plain_text import one_line
from celadon.records import dataclass

_MOST_ROWS: Final = 50
"""Objects up to which the table also lists those that were simply admitted."""

_FEW: Final = 3
"""Objects of a block, and reasons, that are told of one by one."""

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
    shown = _Shown(look)
    blocks = [*policy_error_lines(report.policy_errors, look), *shown.refusals(report)]
    if look.verbosity >= 0:
        blocks += shown.mutations(report)
        blocks += shown.warnings(report)
    if look.verbosity >= 0 or report.strict:
        blocks += notice_lines(report.notices, look, strict=report.strict)
    if look.verbosity >= 0:
        blocks += shown.table(report)
        blocks.append(
            [*plugin_lines(report.plugins, report.unasked_plugins, look), _summary(report)]
        )
    return "\n\n".join("\n".join(block) for block in blocks) + "\n" if blocks else ""


class _Shown:
    """The blocks about objects. Where an object stands is said once: in the table only if no other
    block has said it."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._placed: set[int] = set()

    def refusals(self, report: Report) -> Iterator[list[str]]:
        """Those that differ in nothing but their object are one block."""
        alike: dict[Hashable, list[ObjectResult]] = {}
        for result in report.objects:
            if result.is_refused:
                alike.setdefault(_what_is_wrong(result), []).append(result)
        for results in alike.values():
            yield self._refusal(results)

    def mutations(self, report: Report) -> Iterator[list[str]]:
        """What policies have made of objects."""
        for result in report.objects:
            if result.mutated is not None:
                self._placed.add(id(result))
                yield _mutation(result, result.mutated, self._look)

    def warnings(self, report: Report) -> Iterator[list[str]]:
        """One after the other; equal ones are one block."""
        alike: dict[Hashable, list[tuple[ObjectResult, ClientWarning]]] = {}
        for result in report.objects:
            for warning in result.warnings:
                rules = tuple((one.rule, one.field, one.param) for one in warning.violations)
                alike.setdefault((warning.text, rules), []).append((result, warning))
        for found in alike.values():
            _, first = found[0]
            lines = [f"{self._look.paint('warning', 'warning:')} {first.text}"]
            for violation in first.violations:
                lines += _rule(violation)
            yield [*lines, *self._objects([result for result, _ in found])]

    def _refusal(self, results: list[ObjectResult]) -> list[str]:
        result = results[0]
        word = result.state.value
        lines = [f"{self._look.paint(word, f'{word}:')} {result.sentence}"]
        lines += [
            f"  field   {fault.place}  {fault.field}{_meant(fault)}" for fault in result.faults
        ]
        lines += [f"  plugin  {result.plugin}"] if result.plugin else []
        if result.denial is not None and not result.plugin:
            lines += _rule(result.denial)
        lines += [f"  webhook {call.place}  {call.configuration}" for call in result.denying]
        lines += self._objects(results)
        for violation in result.violations:
            if not violation.denies or violation == result.denial:
                continue
            lines.append(f"  also    {_by(violation)}: {_first_line(violation.message)}")
            lines += _rule(violation)
        return lines

    def _objects(self, results: list[ObjectResult]) -> Iterator[str]:
        """Whom a block is about. The table tells of all of them, so that a few are enough here."""
        few = len(results) if self._look.verbosity else _FEW
        shown = results if len(results) <= few + 1 else results[:few]
        head = "object"
        for result in shown:
            self._placed.add(id(result))
            about = f"{result.title}{_as_mutated(result)}{_origin(result)}{_ordinal(result)}"
            yield f"  {head:8}{result.place}  {about}"
            head = ""
        if len(shown) < len(results):
            yield f"          and {len(results) - len(shown)} more: see the table"

    def table(self, report: Report) -> Iterator[list[str]]:
        """A line per object, and one per webhook that it goes to."""
        look = self._look
        everything = look.verbosity > 0 or len(report.objects) <= _MOST_ROWS
        shown = [one for one in report.objects if _has_row(one, look, everything=everything)]
        if not shown:
            return
        rows = [
            (
                result.state.value,
                f"{'  ' * _depth(result)}{result.title}",
                str(result.policies),
                "" if id(result) in self._placed else str(result.place),
            )
            for result in shown
        ]
        header = ("VERDICT", "OBJECT", "POLICIES", "FILE" if any(row[3] for row in rows) else "")
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


def _what_is_wrong(result: ObjectResult) -> Hashable:
    """What is the same for refusals that are told of together. What is wrong with fields stands in
    the text of each object."""
    if result.faults:
        return id(result)
    nameless = result.sentence.replace(f'"{result.name}"', '""')
    against = tuple((one.rule, one.field, one.param, one.message) for one in result.violations)
    calls = tuple((one.place, one.webhook) for one in result.denying)
    return result.state, nameless, result.plugin, against, calls


def _origin(result: ObjectResult) -> str:
    """Of what is in no file: of which workload it would be created."""
    return "" if result.created_by is None else f" of {result.created_by.title}"


def _ordinal(result: ObjectResult) -> str:
    """Of equal objects that are too many together."""
    if result.ordinal is None:
        return ""
    number, wanted = result.ordinal
    return f", number {number} of {wanted}"


def _depth(result: ObjectResult) -> int:
    return 0 if result.created_by is None else result.created_by.depth


def _has_row(result: ObjectResult, look: Look, *, everything: bool) -> bool:
    """What is created on the way to a pod is of interest only if something happens to it."""
    if result.is_refused or result.state in _WORTH_A_ROW:
        return True
    if result.created_by is not None and result.kind != "Pod" and look.verbosity <= 0:
        return bool(result.mutated or result.webhooks)
    return everything


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
    line = f"{verdict:{widths[0]}}  {title:{widths[1]}}  {policies:>{widths[2]}}  {place}"
    return line.rstrip()


def plugin_lines(
    asked: Sequence[str], unasked: Sequence[UnaskedPlugin], look: Look
) -> Iterator[str]:
    """Which built-in plugins could not be asked, and, for who wants to know, which were."""
    if look.verbosity > 0 and asked:
        yield f"admission plugins asked: {', '.join(asked)}"
    reasons: dict[str, list[str]] = {}
    for one in unasked:
        reasons.setdefault(one.why, []).append(one.plugin)
    if not reasons:
        return
    few = len(reasons) if look.verbosity > 0 else _FEW
    told = [f"{', '.join(names)} ({why})" for why, names in reasons.items()]
    more = f" and {len(told) - few} more reasons" if len(told) > few else ""
    text = f"admission plugins not fully asked: {', '.join(told[:few])}{more}"
    yield look.paint("dim", text)


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
        f"{plural(len(report.given), 'object')}: {', '.join(parts)}{_created(report)}"
        f"{broken}{unread}"
        f" ({plural(report.policies, 'policy')}, {plural(report.bindings, 'binding')}{webhooks})"
    )


def _created(report: Report) -> str:
    """How it goes for what controllers would create."""
    if not report.created:
        return ""
    refused = sum(one.is_refused for one in report.created)
    return f"; {len(report.created)} generated, {refused} of them refused"


def _count(number: int, what: str) -> str:
    return f"{number} {what}"


def plural(number: int, noun: str) -> str:
    """`1 policy`, `2 policies`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"
