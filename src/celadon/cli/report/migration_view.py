"""The results of `celadon migrate` as renderers see them.

For people: what was not translated and what is decided otherwise (by tests, or as is known
without), each with its place; then the counts. Rules that agree with their tests are counted only,
but stand on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from celadon.admission import Operation
from celadon.admission.registration import POLICY_KIND
from celadon.cli.migration import migration_run
from celadon.cli.migration.migration_plan import Course, Existing, MigrationPlan, PlannedPolicy
from celadon.cli.report import report_model
from celadon.kube.json_types import JsonDict
from celadon.migrate import Translation

_EFFECTS: Final = {"translated": "audit", "differs": "deny", "not translated": "warn"}


class MigrationView(report_model.ReportView[migration_run.Migration]):
    """A translation of policies."""

    command = "celadon migrate"

    def text(self, look: report_model.ReportStyle) -> str:
        """Return what is to be looked at, and the counts."""
        report = self.report
        advised: set[str] = set()
        lines = [line for outcome in report.outcomes for line in _lines(outcome, advised)]
        counts = ", ".join(
            f"{report.count(state)} {state}"
            for state in migration_run.STATES
            if report.count(state)
        )
        rules = report_model.plural(len(report.outcomes), "rule")
        compared = report.judged or report.recorded is not None
        tests = [_tests(report)] if compared or report.count("translated") else []
        return "\n".join([*lines, "", f"{rules}: {counts}", *tests])

    def data(self) -> list[JsonDict]:
        """Return an item for each rule."""
        return [dict(outcome.to_json()) for outcome in self.report.outcomes]

    def page(self) -> report_model.Page:
        """Return the counts, then a table of all rules with what became of each."""
        report = self.report
        numbers = tuple(
            (state, report.count(state), _EFFECTS[state]) for state in migration_run.STATES
        )
        differing = sum(len(outcome.differences) for outcome in report.outcomes)
        numbers += (("cases of tests", report.judged, ""), ("otherwise", differing, "deny"))
        first = report_model.Section(
            "Policies, translated", depth=1, text=_tests(report), numbers=numbers
        )
        heads = ("rule", "became", "cases", "what to know")
        sections = [
            report_model.Section(title, table=report_model.Table(heads, tuple(map(_row, outcomes))))
            for state, title in _TITLES.items()
            for outcomes in [[outcome for outcome in report.outcomes if outcome.state == state]]
            if outcomes
        ]
        unread = tuple(problem.text() for problem in report.problems)
        last = [report_model.Section("Not read", items=unread)] if unread else []
        return report_model.Page("celadon migrate", (first, *sections, *last))


_TITLES: Final = {
    "differs": "Decided otherwise than their tests say",
    "not translated": "Not translated",
    "translated": "Translated",
}


def _tests(report: migration_run.Migration) -> str:
    lines = []
    if not report.judged:
        lines.append("no tests came with them: compare the translation with what you know")
    else:
        differing = sum(len(outcome.differences) for outcome in report.outcomes)
        source = "their tests" if report.recorded is None else "their tests and of requests"
        does = "comes" if differing == 1 else "come"
        cases = report_model.plural(report.judged, "case")
        lines.append(f"{cases} of {source}: {differing} {does} out otherwise")
    if report.recorded is not None:
        lines += _recorded(report.recorded)
    return "\n".join(lines)


def _recorded(recorded: migration_run.RecordedRequests) -> Iterator[str]:
    if recorded.sent_count:
        objects = report_model.plural(recorded.sent_count, "object")
        yield f"{objects} sent to the cluster, as dry runs"
    yield f"{report_model.plural(recorded.compared, 'request')} compared"
    for reason, count in recorded.left_out.most_common():
        yield f"  {count} not: {reason}"
        if reason in recorded.examples:
            yield f"    {recorded.examples[reason]}"
    if recorded.without_params:
        yield "rules that were not compared, since their params are not there:"
        yield from (f"  {without_param}" for without_param in recorded.without_params)


def _name(outcome: migration_run.RuleOutcome) -> str:
    origin = outcome.translation.origin
    return f"{origin.policy}/{origin.rule}" if origin.rule else origin.policy


def _lines(outcome: migration_run.RuleOutcome, advised: set[str]) -> Iterator[str]:
    """Yield what is said of one rule; nothing of one that agrees with its tests. What to do instead
    is said once (`advised`)."""
    translation = outcome.translation
    title = f"{outcome.position}: {_name(outcome)}"
    for name in translation.exceptions:
        yield f"{title}: heeds the exception `{name}`, whether or not its engine does"
    for note in outcome.notes:
        yield f"{title}: {note}"
    if translation.reason:
        yield f"{title}: not translated: {translation.reason}"
        if translation.instead and translation.instead not in advised:
            advised.add(translation.instead)
            yield f"  {translation.instead}"
    elif outcome.differences:
        yield f"{title}: differs"
        yield from (f"  {line}" for line in _differences(outcome))


def _differences(outcome: migration_run.RuleOutcome) -> Iterator[str]:
    for difference in outcome.differences:
        yield f"{difference.name}: expected {difference.expected}, found {difference.found}"
        if difference.message:
            yield f"  {difference.message}"


def _row(outcome: migration_run.RuleOutcome) -> tuple[report_model.Cell, ...]:
    translation = outcome.translation
    remarks = [translation.reason, translation.instead] if translation.reason else []
    remarks += [f"heeds the exception `{name}`" for name in translation.exceptions]
    remarks += [*outcome.notes, *_differences(outcome)]
    return (
        report_model.Cell.named(_name(outcome), outcome.position),
        report_model.Cell(
            outcome.state, _EFFECTS[outcome.state], tuple(dict.fromkeys(outcome.policy_names))
        ),
        report_model.Cell.number(outcome.cases),
        report_model.Cell(
            remarks[0] if remarks else "", below=tuple(text.strip() for text in remarks[1:] if text)
        ),
    )


# --- Plans -------------------------------------------------------------------

_COURSE_EFFECTS: Final = {
    Course.MOVE: "audit",
    Course.TRY: "warn",
    Course.REPAIR: "warn",
    Course.TOGETHER: "audit",
    Course.DIVIDE: "warn",
    Course.LOOK: "deny",
    Course.STAY: "warn",
}
_SHOWN: Final = 5
"""Disagreements that are shown of a rule."""
_STAGES: Final = (
    (migration_run.DEFINITIONS, "the kinds of parameters, where there are some"),
    (migration_run.POLICIES, "policies, which do nothing without bindings"),
    (
        migration_run.WARN,
        "bindings that warn and audit; after a week, `celadon replay` reads the audit log",
    ),
    (
        migration_run.ENFORCE,
        "bindings that refuse: a policy at a time, which is deleted in its engine then",
    ),
)

_ONLY_REPORTS: Final = (
    "Policies that only report today have bindings that warn and audit, and keep them."
)


class PlanView(report_model.ReportView[MigrationPlan]):
    """A plan for a cluster."""

    command = "celadon migrate --plan"

    def text(self, look: report_model.ReportStyle) -> str:
        """Return what is there, and the courses."""
        report = self.report
        lines = ["what is there", *(f"  {line}" for line in _inventory(report))]
        for block in report_model.policy_error_lines(report.audit.policy_errors, look):
            lines += ["", *block]
        number = 0
        for course in Course:
            policies = report.taking(course)
            if not policies:
                continue
            number += 1
            lines += [
                "",
                f"{number}. {course.value} ({report_model.plural(len(policies), 'policy')})",
            ]
            for policy in policies:
                lines.append(f"   {_title(policy)}")
                lines += (f"     {line}" for line in _remarks(policy))
        rules = report.outcomes
        moved = sum(not rule.translation.reason for rule in rules)
        count = report_model.plural(len(rules), "rule")
        lines += ["", f"{count}: {moved} can move, {len(rules) - moved} stay"]
        if moved:
            lines += ["", "apply the folders that `-o` writes one after the other:"]
            lines += (f"  {folder:14} {stage}" for folder, stage in _STAGES)
            if any(policy.only_reports for policy in report.policies):
                lines += ["", _ONLY_REPORTS]
        return "\n".join(lines)

    def data(self) -> JsonDict:
        """Return the document of kind MigrationPlan."""
        report = self.report
        return {
            "apiVersion": "celadon/v1",
            "kind": "MigrationPlan",
            "summary": {
                "objects": report.audit.objects,
                "documents": [
                    {"engine": engine, "kind": kind, "count": count}
                    for (engine, kind), count in sorted(report.kinds.items())
                ],
                "courses": {course.name.lower(): len(report.taking(course)) for course in Course},
            },
            "policies": [_data(policy) for policy in report.policies],
            "problems": [problem.text() for problem in report.problems],
        }

    def page(self) -> report_model.Page:
        """Return what is there, then a table for each course."""
        report = self.report
        numbers = tuple(
            (course.name.lower(), len(report.taking(course)), _COURSE_EFFECTS[course])
            for course in Course
            if report.taking(course)
        )
        text = "; ".join(_inventory(report))
        if any(policy.only_reports for policy in report.policies):
            text += f". {_ONLY_REPORTS}"
        first = report_model.Section("Policies to move", depth=1, text=text, numbers=numbers)
        heads = ("policy", "objects", "refused", "what to know")
        sections = [
            report_model.Section(
                _sentence(course.value),
                table=report_model.Table(heads, tuple(map(_plan_row, policies))),
            )
            for course in Course
            for policies in [report.taking(course)]
            if policies
        ]
        remarks = report_model.remark_sections(report.audit.policy_errors, (), report.problems)
        return report_model.Page("celadon migrate --plan", (first, *sections, *remarks))


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _inventory(report: MigrationPlan) -> Iterator[str]:
    for engine in sorted({kind for kind, _ in report.kinds}):
        kinds = sorted(
            (kind, count) for (owner, kind), count in report.kinds.items() if owner == engine
        )
        yield f"{engine}: " + ", ".join(f"{kind} {count}" for kind, count in kinds)
    yield report_model.plural(report.audit.objects, "object")


def _title(policy: PlannedPolicy) -> str:
    about = [policy.kind]
    if len(policy.outcomes) > 1:
        about.append(report_model.plural(len(policy.outcomes), "rule"))
    if policy.only_reports:
        about.append("only reports")
    return f"{policy.name} ({', '.join(about)})"


_FAILED: Final = re.compile(r"expression '.*' resulted in error: (.*)", re.DOTALL)


def _message(message: str) -> str:
    """Return a message on one line; of an expression that failed, why."""
    failed = _FAILED.fullmatch(message)
    text = message if failed is None else f"it could not be judged: {failed[1]}"
    return " ".join(text.split())


def _remarks(policy: PlannedPolicy) -> Iterator[str]:
    """Yield what there is to know of a policy before it moves."""
    if policy.same_as:
        yield f"it demands what `{policy.same_as}` demands: one of both is enough"
    for outcome, existing in zip(policy.outcomes, policy.existing, strict=True):
        rule = outcome.translation.origin.rule
        before = f"{rule}: " if len(policy.outcomes) > 1 and rule else ""
        yield from _of_rule(outcome, existing, before)


def _of_rule(outcome: migration_run.RuleOutcome, existing: Existing, before: str) -> Iterator[str]:
    translation = outcome.translation
    if translation.reason:
        yield f"{before}stays: {translation.reason}"
        if translation.instead:
            yield f"  {translation.instead}"
        return
    for name in translation.exceptions:
        yield f"{before}it heeds the exception `{name}`, whether or not its engine does"
    yield from (f"{before}{note}" for note in translation.notes)
    operations = _operations(translation)
    if operations and Operation.CREATE.name not in operations:
        named = " and ".join(sorted(operations))
        yield f"{before}it is for {named} only, as nothing that exists is"
    if existing.refused:
        objects = report_model.plural(existing.matched, "object")
        yield f"{before}{existing.refused} of {objects} would be refused"
        yield from (
            f"  {example.object.title}: {_message(example.message)}"
            for example in existing.examples
        )
        if existing.errors:
            yield f"  {report_model.plural(existing.errors, 'object')} could not be judged"
    differing = existing.disagreements
    if existing.compared:
        yield (
            f"{before}its engine has judged {report_model.plural(existing.compared, 'object')}: "
            f"{len(differing)} otherwise"
        )
        for disagreement in differing[:_SHOWN]:
            message = _message(disagreement.message)
            ours = f"the translation refuses it: {message}" if message else _NOT_REFUSED
            yield f"  {disagreement.title}: {disagreement.engine_verdict} there, {ours}"
        if len(differing) > _SHOWN:
            yield f"  and {len(differing) - _SHOWN} more"


def _operations(translation: Translation) -> set[str]:
    """Return the operations that a rule which validates is for."""
    return {
        operation
        for policy in translation.policies
        if policy["kind"] == POLICY_KIND
        for rule in policy["spec"]["matchConstraints"].get("resourceRules") or ()
        for operation in rule["operations"]
    }


_NOT_REFUSED: Final = "not refused here (or not there any more)"


def _data(policy: PlannedPolicy) -> JsonDict:
    return {
        "name": policy.name,
        "engine": policy.engine,
        "kind": policy.kind,
        "course": policy.course.name.lower(),
        "sameAs": policy.same_as,
        "onlyReports": policy.only_reports,
        "rules": [
            {
                **outcome.to_json(),
                "objects": existing.matched,
                "refused": existing.refused,
                "errors": existing.errors,
                "examples": [
                    {"object": example.object.title, "message": example.message}
                    for example in existing.examples
                ],
                "compared": existing.compared,
                "disagreements": [
                    {
                        "object": disagreement.title,
                        "theirs": disagreement.engine_verdict,
                        "message": disagreement.message,
                    }
                    for disagreement in existing.disagreements
                ],
            }
            for outcome, existing in zip(policy.outcomes, policy.existing, strict=True)
        ],
    }


def _plan_row(policy: PlannedPolicy) -> tuple[report_model.Cell, ...]:
    remarks = [line.strip() for line in _remarks(policy)]
    position = policy.outcomes[0].position
    kind = f"{policy.kind}, only reports" if policy.only_reports else policy.kind
    return (
        report_model.Cell.named(policy.name, kind, position),
        report_model.Cell.number(sum(existing.matched for existing in policy.existing)),
        report_model.Cell.number(policy.refused, "deny"),
        report_model.Cell(remarks[0] if remarks else "", below=tuple(remarks[1:])),
    )
