"""The results of `celadon migrate` as renderers see them.

For people: what was not translated and what is decided otherwise (by tests, or as is known
without), each with its place; then the counts. Rules that agree with their tests are counted only,
but stand on the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.cli.migration.migration_run import STATES, Migration, RecordedRequests, RuleOutcome
from celadon.cli.report import report_model
from celadon.kube.json_types import JsonDict

_EFFECTS: Final = {"translated": "audit", "differs": "deny", "not translated": "warn"}


class MigrationView(report_model.ReportView[Migration]):
    """A translation of policies."""

    command = "celadon migrate"

    def text(self, look: report_model.ReportStyle) -> str:
        """Return what is to be looked at, and the counts."""
        report = self.report
        lines = [line for outcome in report.outcomes for line in _lines(outcome)]
        counts = ", ".join(
            f"{report.count(state)} {state}" for state in STATES if report.count(state)
        )
        rules = report_model.plural(len(report.outcomes), "rule")
        return "\n".join([*lines, "", f"{rules}: {counts}", _tests(report)])

    def data(self) -> list[JsonDict]:
        """Return an item for each rule."""
        return [dict(outcome.to_json()) for outcome in self.report.outcomes]

    def page(self) -> report_model.Page:
        """The counts, then a table of all rules with what became of each."""
        report = self.report
        numbers = tuple((state, report.count(state), _EFFECTS[state]) for state in STATES)
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


def _tests(report: Migration) -> str:
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


def _recorded(recorded: RecordedRequests) -> Iterator[str]:
    if recorded.sent:
        yield f"{report_model.plural(recorded.sent, 'object')} sent to the cluster, as dry runs"
    yield f"{report_model.plural(recorded.compared, 'request')} compared"
    for reason, count in recorded.left.most_common():
        yield f"  {count} not: {reason}"
        if reason in recorded.examples:
            yield f"    {recorded.examples[reason]}"
    if recorded.without_params:
        yield "rules that were not compared, since their params are not there:"
        yield from (f"  {without_param}" for without_param in recorded.without_params)


def _name(outcome: RuleOutcome) -> str:
    origin = outcome.translation.origin
    return f"{origin.policy}/{origin.rule}" if origin.rule else origin.policy


def _lines(outcome: RuleOutcome) -> Iterator[str]:
    """Yield what is said of one rule; nothing of one that agrees with its tests."""
    translation = outcome.translation
    title = f"{outcome.position}: {_name(outcome)}"
    for name in translation.exceptions:
        yield f"{title}: heeds the exception `{name}`, whether or not its engine does"
    for note in outcome.notes:
        yield f"{title}: {note}"
    if translation.reason:
        yield f"{title}: not translated: {translation.reason}"
        if translation.instead:
            yield f"  {translation.instead}"
    elif outcome.differences:
        yield f"{title}: differs"
        yield from (f"  {line}" for line in _differences(outcome))


def _differences(outcome: RuleOutcome) -> Iterator[str]:
    for difference in outcome.differences:
        yield f"{difference.name}: expected {difference.expected}, found {difference.found}"
        if difference.message:
            yield f"  {difference.message}"


def _row(outcome: RuleOutcome) -> tuple[report_model.Cell, ...]:
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
