"""The results of `celadon check`, for one release or several, as renderers see them.

For people: first what is refused, with the sentence the API server would send, then where the rule
is written and which objects failed: those that differ in nothing else are one block. Then warnings,
notices, a table with a line per object, and a summary.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from celadon.cli.celadon_documents import FileNames
from celadon.cli.check import check_report, upgrade_report
from celadon.cli.report import report_model as model
from celadon.kube import Json, JsonObject
from celadon.kube.json_types import JsonDict

_MOST_ROWS: Final = 50
"""Objects up to which the table also lists those that were simply admitted."""

_WORTH_A_ROW: Final = frozenset({check_report.State.WARNED, check_report.State.UNASKED})
"""Besides those refused, what the table always lists."""

_WEBHOOK_STYLES: Final = {
    check_report.Outcome.DENIED: "denied",
    check_report.Outcome.FAILED: "error",
    check_report.Outcome.IGNORED: "warning",
    check_report.Outcome.UNASKED: "unasked",
}


class CheckView(model.ReportView[check_report.Report]):
    """A check of objects."""

    command = "celadon check"

    def text(self, look: model.ReportStyle) -> str:
        """Return the blocks and the table."""
        report, blocks_of = self.report, _Blocks(look)
        blocks = [
            *model.policy_error_lines(report.policy_errors, look),
            *blocks_of.refusals(report),
        ]
        if look.verbosity >= 0:
            blocks += blocks_of.mutations(report)
            blocks += blocks_of.warnings(report)
        if look.verbosity >= 0 or report.strict:
            blocks += model.notice_lines(report.notices, look, strict=report.strict)
        if look.verbosity >= 0:
            blocks += blocks_of.table(report)
            plugins = model.plugin_lines(report.plugins, report.unasked_plugins, look)
            blocks.append([*plugins, _summary(report)])
        return model.joined(blocks)

    def data(self) -> JsonDict:
        """Return the document of kind CheckReport."""
        from celadon.cli.report.report_model import plugins

        report = self.report
        states = (
            check_report.State.DENIED,
            check_report.State.INVALID,
            check_report.State.WARNED,
            check_report.State.UNTOUCHED,
            check_report.State.UNCHANGED,
        )
        summary = {
            "objects": len(report.objects_of_files),
            "admitted": report.admitted,
            **{state.value: report.count(state) for state in (*states, check_report.State.UNASKED)},
            "policies": report.policies,
            "bindings": report.bindings,
            "webhooks": report.webhooks,
            "generated": len(report.created),
            "generatedRefused": sum(result.is_refused for result in report.created),
            "exitCode": int(report.exit),
        }
        return model.document(
            "CheckReport",
            {**model.SHAPES, **_SHAPES},
            summary=summary,
            objects=report.objects,
            plugins=plugins(report.plugins, report.unasked_plugins),
            policyErrors=report.policy_errors,
            notices=report.notices,
            problems=report.problems,
        )

    def findings(self) -> Iterator[model.Finding]:
        """Broken policies; what refuses objects, and warnings about them; notices."""
        report = self.report
        yield from map(model.error_finding, report.policy_errors)
        for result in report.objects:
            yield from _faults(result)
            if result.state is check_report.State.DENIED:
                yield _denial(result)
            level = model.Level.ERROR if report.fail_on_warning else model.Level.WARNING
            for warning in result.warnings:
                yield _about(result, level, result.title, warning.text, warning.violations)
        for notice in report.notices:
            yield model.notice_finding(notice, strict=report.strict)

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return a rule for each policy and each built-in plugin that has something against an
        object, and one for each other reason."""
        return [model.FindingRule(group, group, _rule_text(group)) for group in groups]

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each broken policy and each object, and notices as remarks."""
        yield from map(model.error_case, self.report.policy_errors)
        for result in self.report.objects:
            yield _case(result, self.report)
        for notice in self.report.notices:
            yield model.notice_case(notice, strict=self.report.strict)


# --- for people -----------------------------------------------------------------------------------


class _Blocks:
    """The blocks about objects. Where an object stands is said once: in the table only if no other
    block has said it."""

    def __init__(self, look: model.ReportStyle) -> None:
        self._look = look
        self._placed: set[int] = set()

    def refusals(self, report: check_report.Report) -> Iterator[list[str]]:
        """Yield those that differ in nothing but their object are one block."""
        alike: dict[Hashable, list[check_report.ObjectResult]] = {}
        for result in report.objects:
            if result.is_refused:
                alike.setdefault(_what_is_wrong(result), []).append(result)
        for results in alike.values():
            yield self._refusal(results)

    def mutations(self, report: check_report.Report) -> Iterator[list[str]]:
        """Yield what policies have made of objects."""
        for result in report.objects:
            if result.mutated is not None:
                self._placed.add(id(result))
                yield _mutation(result, result.mutated, self._look)

    def warnings(self, report: check_report.Report) -> Iterator[list[str]]:
        """Yield one block after the other; equal warnings are one block."""
        alike: dict[
            Hashable, list[tuple[check_report.ObjectResult, check_report.ClientWarning]]
        ] = {}
        for result in report.objects:
            for warning in result.warnings:
                rules = tuple(
                    (violation.rule, violation.field, violation.param)
                    for violation in warning.violations
                )
                alike.setdefault((warning.text, rules), []).append((result, warning))
        for value in alike.values():
            _, first = value[0]
            lines = [f"{self._look.paint('warning', 'warning:')} {first.text}"]
            for violation in first.violations:
                lines += _rule(violation)
            yield [*lines, *self._objects([result for result, _ in value])]

    def _refusal(self, results: list[check_report.ObjectResult]) -> list[str]:
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

    def _objects(self, results: list[check_report.ObjectResult]) -> Iterator[str]:
        """Yield the objects that a block is about. The table tells of all of them, so that a few
        are enough here."""
        few = len(results) if self._look.verbosity else model.FEW
        listed = results if len(results) <= few + 1 else results[:few]
        head = "object"
        for result in listed:
            self._placed.add(id(result))
            about = f"{result.title}{_as_mutated(result)}{_origin(result)}{_ordinal(result)}"
            yield f"  {head:8}{result.place}  {about}"
            head = ""
        if len(listed) < len(results):
            yield f"          and {len(results) - len(listed)} more: see the table"

    def table(self, report: check_report.Report) -> Iterator[list[str]]:
        """Yield a line per object, and one per webhook that it goes to."""
        look = self._look
        everything = look.verbosity > 0 or len(report.objects) <= _MOST_ROWS
        results = [
            result for result in report.objects if _has_row(result, look, everything=everything)
        ]
        if not results:
            return
        rows = [
            (
                result.state.value,
                f"{'  ' * _depth(result)}{result.title}",
                str(result.policies),
                "" if id(result) in self._placed else str(result.place),
            )
            for result in results
        ]
        header = ("VERDICT", "OBJECT", "POLICIES", "FILE" if any(row[3] for row in rows) else "")
        head, *table = model.aligned([header, *rows], numbers={2})
        lines = [head]
        for result, line in zip(results, table, strict=True):
            state = result.state.value
            lines.append(look.paint(state, state) + line[len(state) :])
            lines += [_webhook(call, look) for call in result.webhooks]
            if look.verbosity > 0:
                lines += [
                    f"  audit   {key}: {value}" for key, value in result.audit_annotations.items()
                ]
        yield lines


def _what_is_wrong(result: check_report.ObjectResult) -> Hashable:
    """Return what is the same for refusals that are told of together. What is wrong with fields
    stands in the text of each object."""
    if result.faults:
        return id(result)
    nameless = result.sentence.replace(f'"{result.name}"', '""')
    against = tuple(
        (violation.rule, violation.field, violation.param, violation.message)
        for violation in result.violations
    )
    calls = tuple((call.place, call.webhook) for call in result.denying)
    return result.state, nameless, result.plugin, against, calls


def _origin(result: check_report.ObjectResult) -> str:
    """Return for what is in no file of which workload it would be created."""
    return "" if result.created_by is None else f" of {result.created_by.title}"


def _ordinal(result: check_report.ObjectResult) -> str:
    """Return the number of one of several equal objects that are too many together."""
    if result.ordinal is None:
        return ""
    number, count = result.ordinal
    return f", number {number} of {count}"


def _depth(result: check_report.ObjectResult) -> int:
    return 0 if result.created_by is None else result.created_by.depth


def _has_row(
    result: check_report.ObjectResult, look: model.ReportStyle, *, everything: bool
) -> bool:
    """Return what is created on the way to a pod is of interest only if something happens to it."""
    if result.is_refused or result.state in _WORTH_A_ROW:
        return True
    if result.created_by is not None and result.kind != "Pod" and look.verbosity <= 0:
        return bool(result.mutated or result.webhooks)
    return everything


def _meant(fault: check_report.Fault) -> str:
    return f", did you mean `{fault.suggestion}`?" if fault.suggestion else ""


def _rule(violation: check_report.Violation) -> list[str]:
    if not violation.rule.file:
        return []
    param = f"  params {violation.param}" if violation.param else ""
    return [f"  rule    {violation.rule}  {violation.field}{param}"]


def _by(violation: check_report.Violation) -> str:
    binding = f"/{violation.binding}" if violation.binding else ""
    return f"{violation.policy}{binding}"


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]


def _as_mutated(result: check_report.ObjectResult) -> str:
    """Say that what was judged is not what is in the file."""
    if result.mutated is None:
        return ""
    return f" as mutated by {', '.join(result.mutated.policies)}"


def _mutation(
    result: check_report.ObjectResult, mutated: check_report.Mutated, look: model.ReportStyle
) -> list[str]:
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


def _diff(before: JsonObject, after: JsonObject, look: model.ReportStyle) -> list[str]:
    styles = {"+": "admitted", "-": "denied", "@": "dim"}
    return [
        "    " + (look.paint(styles[line[0]], line) if line[:1] in styles else line)
        for line in map(model.one_line, model.diff_lines(before, after))
    ]


def _webhook(call: check_report.WebhookCall, look: model.ReportStyle) -> str:
    """Return a webhook that the object of the row above is sent to."""
    style = _WEBHOOK_STYLES.get(call.outcome, "admitted")
    again = ", again" if call.is_reinvocation else ""
    outcome = look.paint(style, call.outcome.value)
    line = f"  {call.phase} webhook {call.webhook}: {outcome}{again}  {call.place}"
    if look.verbosity <= 0:
        return line
    changes = [
        f"    patch {json.dumps(dict(operation), ensure_ascii=False)}" for operation in call.patch
    ]
    reasons = (
        [f"    {_first_line(call.message)}"] if call.outcome is check_report.Outcome.IGNORED else []
    )
    return "\n".join([line, *reasons, *changes])


def _summary(report: check_report.Report) -> str:
    denied, warned = (
        report.count(check_report.State.DENIED),
        report.count(check_report.State.WARNED),
    )
    untouched, invalid = (
        report.count(check_report.State.UNTOUCHED),
        report.count(check_report.State.INVALID),
    )
    unasked = report.count(check_report.State.UNASKED)
    parts = [f"{report.admitted} admitted", f"{denied} denied"]
    if invalid:
        parts.append(f"{invalid} invalid")
    if warned:
        parts[0] += f" ({warned} with warnings)"
    if unasked:
        parts.append(f"{unasked} up to webhooks that were not asked")
    if untouched:
        parts.append(f"{untouched} matched by no policy")
    if unchanged := report.count(check_report.State.UNCHANGED):
        parts.append(f"{unchanged} unchanged")
    broken = f", {_count(len(report.policy_errors), 'broken')}" if report.policy_errors else ""
    unread = f", {_count(len(report.problems), 'unreadable')}" if report.problems else ""
    webhooks = f", {model.plural(report.webhooks, 'webhook')}" if report.webhooks else ""
    return (
        f"{model.plural(len(report.objects_of_files), 'object')}: "
        f"{', '.join(parts)}{_created(report)}{broken}{unread}"
        f" ({model.plural(report.policies, 'policy')}, "
        f"{model.plural(report.bindings, 'binding')}{webhooks})"
    )


def _created(report: check_report.Report) -> str:
    """Return how it goes for what controllers would create."""
    if not report.created:
        return ""
    refused = sum(result.is_refused for result in report.created)
    return f"; {len(report.created)} generated, {refused} of them refused"


def _count(number: int, subject: str) -> str:
    return f"{number} {subject}"


# --- for programs ---------------------------------------------------------------------------------


def _violations(result: check_report.ObjectResult) -> list[dict[str, Json]]:
    """`warning` is the text of the warning, cut or merged as it is, that the client gets of it."""
    from celadon.cli.report.report_model import data, filled

    violations = []
    shapes = {**model.SHAPES, **_SHAPES}
    for violation in result.violations:
        texts = (warning.text for warning in result.warnings if violation in warning.violations)
        extra = filled(warning=next(texts, ""), error=violation.is_error or None)
        violations.append(data(violation, shapes) | extra)
    return violations


_SHAPES: Final = {
    check_report.ObjectResult: (
        *("*place", "api_version", "kind", "namespace", "name", "generatedBy=created_by"),
        *("operation", "verdict=state", "allowed=is_admitted"),
        ("code", lambda value: None if value.state is check_report.State.UNASKED else value.code),
        *("message=sentence", "plugin"),
        ("fits", lambda value: None if value.ordinal is None else value.ordinal[0] - 1),
        ("wanted", lambda value: None if value.ordinal is None else value.ordinal[1]),
        "status",
        ("warnings", lambda value: [warning.text for warning in value.warnings]),
        *("audit_annotations", "policies", "mutation=mutated", "webhooks", "faults"),
        ("violations", _violations),
    ),
    check_report.Creator: ("object=title!", "*place", "user!"),
    check_report.WebhookCall: (
        *("configuration", "webhook", "type=phase", "outcome", "reinvoked=is_reinvocation?"),
        *("place", "message", "patch", "warnings"),
    ),
    check_report.Mutated: ("policies!", "patch!", "steps!"),
    check_report.MutationStep: ("policy", "binding", "param", "field", "rule", "round?", "patch"),
    check_report.Fault: ("*place", "field", "message", "meant=suggestion"),
    check_report.Violation: (
        *("policy", "binding", "param", "field", "rule", "message", "validationActions=actions"),
    ),
}


# --- findings and cases ---------------------------------------------------------------------------

_DENIED: Final = "denied"
_INVALID: Final = "invalid"
_WARNING: Final = "server-warning"
_TEXTS: Final = {
    _DENIED: "the API server, or a webhook, refuses the object",
    _INVALID: "the API server refuses the object before it asks any policy",
    _WARNING: "the API server, or a webhook, warns about the object",
    "policy-error": "a policy that the API server would not accept, so that nothing is checked by "
    "it",
}


def _rule_text(group: str) -> str:
    kind, _, name = group.partition("/")
    if kind == "notice":
        return f"went by in silence: {name.replace('-', ' ')}"
    return _TEXTS.get(group, f"admission {kind} {name}")


def _faults(result: check_report.ObjectResult) -> Iterator[model.Finding]:
    title = f"{result.title} invalid"
    if result.state is check_report.State.INVALID and not result.faults:
        yield model.Finding(
            model.Level.ERROR, result.place, title, result.sentence, _INVALID, result.title
        )
    for fault in result.faults:
        text, subject = f"{fault.field}: {fault.message}", f"{result.title} {fault.field}"
        yield model.Finding(model.Level.ERROR, fault.place, title, text, _INVALID, subject)


def _denial(result: check_report.ObjectResult) -> model.Finding:
    """Return the finding of an object that is denied; in parts, one for each violation, where
    violations are all that is the matter. Of one of them the server speaks with its sentence."""
    title = f"{result.title} denied"
    against = [violation for violation in result.violations if violation.denies]
    details = (
        *_rules_of(against),
        *([f"plugin: {result.plugin}"] if result.plugin else []),
        *(f"webhook: {call.place}" for call in result.denying),
    )
    related = tuple(model.Related(call.place, "webhook") for call in result.denying)
    parts = tuple(
        _about(
            result,
            model.Level.ERROR,
            title,
            result.sentence if violation == result.denial else violation.message,
            [violation],
        )
        for violation in against
        if not result.plugin
    )
    group = f"plugin/{result.plugin}" if result.plugin else _DENIED
    return model.Finding(
        *(model.Level.ERROR, result.place, title, result.sentence, group, result.title),
        details=details,
        related=related,
        parts=parts,
    )


def _about(
    result: check_report.ObjectResult,
    level: model.Level,
    title: str,
    text: str,
    violations: Sequence[check_report.Violation],
) -> model.Finding:
    group = f"policy/{violations[0].policy}" if violations else _WARNING
    return model.Finding(
        *(level, result.place, title, text, group, result.title),
        details=_rules_of(violations),
        related=tuple(model.Related(v.rule, v.field) for v in violations if v.rule.file),
    )


def _rules_of(violations: Iterable[check_report.Violation]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(f"rule: {violation.rule}" for violation in violations if violation.rule.file)
    )


def _case(result: check_report.ObjectResult, report: check_report.Report) -> model.ReportCase:
    group = "object" if result.created_by is None else "generated"
    outcome, message, details = model.CaseState.PASSED, "", ""
    warnings = "\n".join(_warnings(result))
    if result.is_refused:
        is_error = result.has_error
        outcome = model.CaseState.ERROR if is_error else model.CaseState.FAILED
        message, details = result.sentence, "\n".join(_reasons(result))
    elif result.state is check_report.State.UNASKED:
        outcome = model.CaseState.SKIPPED
        names = (
            ", ".join(dict.fromkeys(call.webhook for call in result.unasked)) or "for conversion"
        )
        message = f"webhooks not asked: {names}"
        if report.needs_answers:
            outcome = model.CaseState.ERROR
            details = "\n".join([message, *_warnings(result)])
    elif result.warnings and report.fail_on_warning:
        outcome = model.CaseState.FAILED
        message, details = result.warnings[0].text, warnings
    return model.ReportCase(group, result.title, result.place, outcome, message, details, warnings)


def _reasons(result: check_report.ObjectResult) -> Iterator[str]:
    """Yield the sentence, the places that it is due to, and warnings."""
    yield result.sentence
    yield from (f"field: {fault.place} {fault.field}" for fault in result.faults)
    yield from (_rule_line(violation) for violation in result.violations if violation.denies)
    if result.plugin:
        yield f"plugin: {result.plugin}"
    yield from (f"webhook: {call.place} {call.configuration}" for call in result.denying)
    yield from _warnings(result)


def _warnings(result: check_report.ObjectResult) -> Iterator[str]:
    """Yield each warning, and behind it the rules it is due to."""
    for warning in result.warnings:
        yield warning.text
        yield from map(_rule_line, warning.violations)


def _rule_line(violation: check_report.Violation) -> str:
    return f"rule: {violation.rule} {violation.field}"


# --- mutated objects as files ---------------------------------------------------------------------


def write_mutated(report: check_report.Report, folder: str) -> list[Path]:
    """Write the objects that policies have changed as manifests: a file for each, named after kind,
    namespace and name; the folder is made if need be. Raises OSError."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    files, written = FileNames(), []
    for result in report.objects:
        if result.mutated is not None:
            path = target / files.name(result.kind.lower(), result.namespace, result.name)
            path.write_text(model.yaml_text(result.mutated.after), encoding="utf-8")
            written.append(path)
    return written


# --- Several releases --------------------------------------------------------
#
# What several releases say of the same files, as renderers see it: what stands in the way of an
# upgrade comes first.

_MOST_TEXT: Final = 60
"""Characters of a value that are shown."""

_UPGRADE_SHAPES: Final = {
    **model.SHAPES,
    upgrade_report.Difference: (
        "*place",
        "title",
        ("unsafe", lambda value: value.is_unsafe),
        "stretches",
    ),
    upgrade_report.Stretch: ("releases", "*answer"),
    upgrade_report.Answer: (
        *("state=word", "refused=is_refused", "message", "warnings", "changes", "replacement"),
        "cost",
    ),
    upgrade_report.FieldChange: ("path", "before", "after", "gate"),
    upgrade_report.FlippedGate: ("name", "fields", "stretches"),
    upgrade_report.GateStretch: ("releases", "on", "stage"),
}


class UpgradeView(model.ReportView[upgrade_report.UpgradeReport]):
    """A check under several releases."""

    command = "celadon check"

    def text(self, look: model.ReportStyle) -> str:
        """Return a block for each difference, and what they come to."""
        report = self.report
        differences = [
            difference
            for difference in report.differences
            if difference.is_unsafe or look.verbosity >= 0
        ]
        differences.sort(key=lambda difference: not difference.is_unsafe)
        blocks = [*(_block(difference, look) for difference in differences)]
        if look.verbosity >= 0:
            blocks += model.notice_lines(report.notices, look, strict=report.strict)
        gates = list(_gate_lines(report, look)) if look.verbosity >= 0 else []
        return model.joined([*blocks, gates, [_upgrade_summary(report)]])

    def data(self) -> JsonDict:
        """Return the document of kind UpgradeReport."""
        report = self.report
        summary = {
            "objects": report.objects,
            "policies": report.policies,
            "different": len(report.differences),
            "unsafe": len(report.unsafe),
            "exitCode": int(report.exit),
        }
        return model.document(
            "UpgradeReport",
            _UPGRADE_SHAPES,
            releases=report.releases,
            summary=summary,
            differences=report.differences,
            gates=report.gates,
            notices=report.notices,
            problems=report.problems,
        )

    def findings(self) -> Iterator[model.Finding]:
        """Yield a finding for each difference; what stands in the way is an error."""
        for difference in self.report.differences:
            lines = _block(difference, model.ReportStyle())[1:]
            level = model.Level.ERROR if difference.is_unsafe else model.Level.WARNING
            message = "; ".join(line.strip() for line in lines)
            group = "unsafe-upgrade" if difference.is_unsafe else "release-difference"
            yield model.Finding(
                level, difference.place, difference.title, message, group, difference.title
            )

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return the two sorts of differences."""
        texts = {
            "unsafe-upgrade": "A later release refuses this, or does not keep all of it.",
            "release-difference": "Releases do not say the same of this.",
        }
        return [model.FindingRule(group, group, texts.get(group, group)) for group in groups]

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each difference; one alone where there are none."""
        for difference in self.report.differences:
            outcome = model.CaseState.FAILED if difference.is_unsafe else model.CaseState.PASSED
            details = "\n".join(_block(difference, model.ReportStyle())[1:])
            yield model.ReportCase(
                "upgrade", difference.title, difference.place, outcome, details.strip(), details
            )
        if not self.report.differences:
            yield model.ReportCase("upgrade", _upgrade_summary(self.report), check_report.Place())


class UpgradeAuditView(UpgradeView):
    """An audit under several releases."""

    command = "celadon audit"


def _block(difference: upgrade_report.Difference, look: model.ReportStyle) -> list[str]:
    word = (
        look.paint("denied", "unsafe")
        if difference.is_unsafe
        else look.paint("warning", "different")
    )
    lines = [f"{difference.place}: {word}: {difference.title}"]
    names = [_span(stretch.releases) for stretch in difference.stretches]
    width = max(map(len, names))
    for name, stretch in zip(names, difference.stretches, strict=True):
        answer = stretch.answer
        lines.append(f"  {name:<{width}}  {_said(answer)}")
        indent = " " * (width + 4)
        lines += [f"{indent}warning: {warning}" for warning in answer.warnings]
        lines += [f"{indent}{_changed(change)}" for change in answer.changes]
    return lines


def _said(answer: upgrade_report.Answer) -> str:
    text = f"{answer.word}: {answer.message}" if answer.message else answer.word
    if answer.replacement:
        text += f"; use {answer.replacement}"
    return text if answer.cost is None else f"{text}, costs up to {answer.cost:,}"


def _gate_lines(report: upgrade_report.UpgradeReport, look: model.ReportStyle) -> Iterator[str]:
    """Yield the gates that decide about fields of the input, and all that flip where more is
    wanted."""
    if not report.gates:
        return
    gates = [gate for gate in report.gates if gate.fields or look.verbosity > 0]
    unrelated = len(report.gates) - len(gates)
    for gate in gates:
        states = ", ".join(
            f"{_span(stretch.releases)} {_state(stretch)}" for stretch in gate.stretches
        )
        fields = f" ({', '.join(gate.fields)})" if gate.fields else ""
        yield f"feature gate {gate.name}: {states}{fields}"
    if unrelated:
        yield f"feature gates that flip, and no field here depends on: {unrelated} (-v names them)"


def _state(stretch: upgrade_report.GateStretch) -> str:
    word = "on" if stretch.on else "off"
    return f"{word} ({stretch.stage})" if stretch.stage else word


def _span(releases: Sequence[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]}..{releases[-1]}"


def _changed(change: upgrade_report.FieldChange) -> str:
    by = f", by feature gate {change.gate}" if change.gate else ""
    if change.is_lost:
        return f"{change.path} is dropped (it was {_value(change.before)}){by}"
    if change.before is None:
        return f"{change.path} is {_value(change.after)}{by}"
    return f"{change.path} is {_value(change.after)} (it was {_value(change.before)}){by}"


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _upgrade_summary(report: upgrade_report.UpgradeReport) -> str:
    scope = f"{', '.join(report.releases)}: {model.plural(report.objects, 'object')}"
    if not report.objects and not report.policies:
        return f"{scope}: nothing was judged"
    if not report.differences:
        return f"{scope}, no differences"
    different = f"{scope}, {model.plural(len(report.differences), 'difference')}"
    if not report.unsafe:
        return f"{different}, none of which stands in the way"
    return f"{different}, {len(report.unsafe)} in the way of the upgrade"
