"""The findings of `celadon audit`, of one source or of a fleet, as renderers see them.

For people: what is violated, policy by policy, with the first of the objects; then tables of
numbers, notices and a summary. Violations may also be rows of a file that is written while they are
found, and items of policy reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, Protocol

from celadon.cli.audit import audit_report
from celadon.cli.reading.documents import Problem
from celadon.cli.report import report_model as model
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import PLUGIN_ORDER

EFFECT_STYLES: Final = {"deny": "denied", "warn": "warned", "audit": "notice"}
"""How effects are coloured."""

_NUMBERS: Final = ("matched", "denied", "warned", "audited", "errors")
_LEVELS: Final = {"deny": model.Level.ERROR, "warn": model.Level.WARNING, "audit": model.Level.NOTE}
_SHOWN: Final = 10
"""Objects that are shown for one policy, unless `-v` asks for all."""
_GROUPS: Final = 50

_SHAPES: Final = {
    **model.SHAPES,
    audit_report.AuditedPolicy: (
        "name",
        "place",
        "bindings",
        "validationActions=actions",
        "*tally",
    ),
    audit_report.AuditedObject: ("api_version", "kind", "namespace", "name", "uid"),
    audit_report.Violation: (
        *("object", "*object.place", "effect", "policy", "binding", "param", "field", "rule"),
        *("message", "error=is_error?"),
    ),
}


class AuditView(model.ReportView[audit_report.AuditReport]):
    """An audit of one source."""

    command = "celadon audit"

    def text(self, look: model.ReportStyle) -> str:
        """Violations, notices and tables."""
        report = self.report
        blocks = [*model.policy_error_lines(report.policy_errors, look)]
        blocks += _violation_blocks(report, look)
        blocks += model.notice_lines(report.notices, look, strict=report.strict)
        blocks += _tally_table(
            "POLICY", [(policy.name, policy.tally) for policy in report.policies]
        )
        if report.summary_by != "policy":
            blocks += _tally_table(report.summary_by.upper(), report.groups[:_GROUPS])
            if len(report.groups) > _GROUPS:
                blocks[-1].append(f"and {len(report.groups) - _GROUPS} more")
        plugin_lines = model.plugin_lines(report.plugins, report.unasked_plugins, look)
        blocks.append([*plugin_lines, _summary(report)])
        return model.joined(blocks)

    def data(self) -> JsonDict:
        """Return the document of kind AuditReport."""
        report = self.report
        summary = {
            "operation": report.operation,
            "objects": report.objects,
            **model.data(report.total),
            "violations": report.violation_count,
            "violationsOmitted": report.omitted,
            "exitCode": int(report.exit),
        }
        by_policy = report.summary_by == "policy"
        groups = {"by": report.summary_by, "items": _named_tallies(report.groups)}
        return model.document(
            "AuditReport",
            _SHAPES,
            summary=summary,
            policies=report.policies,
            **({} if by_policy else {"groups": groups}),
            results=report.violations,
            plugins=model.plugins(report.plugins, report.unasked_plugins),
            policyErrors=report.policy_errors,
            notices=report.notices,
            problems=report.problems,
        )

    def last_line(self) -> JsonDict:
        """Return the document without the violations, which stand before it as lines of JSON."""
        data = self.data()
        del data["summary"]["violationsOmitted"], data["results"]
        return data

    def findings(self) -> Iterator[model.Finding]:
        """Broken policies, violations where the objects stand, and notices."""
        report = self.report
        yield from map(model.error_finding, report.policy_errors)
        for violation in report.violations:
            # Findings of plugins stand beside those of policies, with the name of the plugin in
            # place of a policy.
            kind = "plugin" if violation.policy in PLUGIN_ORDER else "policy"
            has_rule = bool(violation.rule.file)
            yield model.Finding(
                *(
                    _LEVELS[violation.effect],
                    violation.object.place,
                    violation.object.title,
                    violation.message,
                ),
                *(f"{kind}/{violation.policy}", violation.object.title),
                details=(f"rule: {violation.rule}",) if has_rule else (),
                related=(model.Related(violation.rule, violation.field),) if has_rule else (),
            )
        for notice in report.notices:
            yield model.notice_finding(notice, strict=report.strict)

    def rules(self, groups: Sequence[str]) -> Sequence[model.FindingRule]:
        """Return a rule for each policy that is violated, and for PodSecurity."""
        return [model.FindingRule(group, group, f"found by {group}") for group in groups]

    def cases(self) -> Iterator[model.ReportCase]:
        """Yield a case for each policy, with what violates it, and notices as remarks."""
        report = self.report
        yield from map(model.error_case, report.policy_errors)
        for policy in report.policies:
            yield _policy_case(policy, report)
        for notice in report.notices:
            yield model.notice_case(notice, strict=report.strict, details=notice.message)

    def page(self) -> model.Page:
        """Numbers, groups, violations, notices."""
        report = self.report
        return model.Page(
            "celadon audit",
            (
                *_sections(report),
                *model.remark_sections(report.policy_errors, report.notices, report.problems),
            ),
        )


class FleetView(model.ReportView[audit_report.FleetReport]):
    """The audit of a fleet: its sources, and what they come to."""

    command = "celadon audit"

    @property
    def problems(self) -> Sequence[Problem]:
        """Return the inputs that could not be read, in all sources."""
        return self.report.all_problems

    def text(self, look: model.ReportStyle) -> str:
        """Violations source by source, then tables by source and by policy."""
        report = self.report
        blocks: list[list[str]] = []
        for name, source in report.sources:
            violation_blocks = list(_violation_blocks(source, look))
            if violation_blocks:
                blocks += [[look.paint("bold", f"== {name}")], *violation_blocks]
        blocks += model.notice_lines(report.notices, look, strict=report.strict)
        blocks += _tally_table("SOURCE", [(name, report.total) for name, report in report.sources])
        blocks += _tally_table("POLICY", report.policies)
        blocks += _tally_table("GROUP", report.groups)
        blocks.append([_fleet_summary(report)])
        return model.joined(blocks)

    def data(self) -> JsonDict:
        """Return the document of kind FleetAuditReport."""
        return self._document(
            [(name, AuditView(source).data()) for name, source in self.report.sources]
        )

    def last_line(self) -> JsonObject:
        """Return the document without the violations, which stand before it as lines of JSON."""
        return self._document(
            [(name, AuditView(source).last_line()) for name, source in self.report.sources]
        )

    def _document(self, sources: Sequence[tuple[str, dict[str, object]]]) -> dict[str, object]:
        """Return JSON with the documents of the sources, which do not say their kind."""
        report = self.report
        summary = {
            "sources": len(report.sources),
            "objects": report.objects,
            **model.data(report.total),
            "violations": report.violation_count,
            "exitCode": int(report.exit),
        }
        for _, source in sources:
            del source["apiVersion"], source["kind"]
        return model.document(
            "FleetAuditReport",
            summary=summary,
            policies=_named_tallies(report.policies),
            groups=_named_tallies(report.groups),
            sources=[{"name": name, **source} for name, source in sources],
            notices=report.notices,
            problems=report.problems,
        )


def as_last_line(view: AuditView | FleetView) -> str:
    """Return the last line of JSON lines."""
    return model.json_line(view.last_line())


def violation_line(violation: audit_report.Violation) -> str:
    """Return a violation as one of the lines before it."""
    return model.json_line(model.data(violation, _SHAPES))


def fleet_violation_line(source: str, violation: audit_report.Violation) -> str:
    """Return the line of a violation where there are several sources."""
    return model.json_line({"source": source, **model.data(violation, _SHAPES)})


def _named_tallies(tallies: Sequence[tuple[str, audit_report.Tally]]) -> list[dict[str, object]]:
    return [{"name": name, **model.data(tally)} for name, tally in tallies]


# --- for people -----------------------------------------------------------------------------------


def _shown(
    violations: Sequence[audit_report.Violation], look: model.ReportStyle
) -> Sequence[audit_report.Violation]:
    """Return the violations that people get to see."""
    if look.verbosity > 0:
        return violations
    most = _SHOWN if look.verbosity == 0 else 0
    counts: Counter[tuple[str, str]] = Counter()
    result = []
    for violation in violations:
        by = violation.policy, violation.binding
        counts[by] += 1
        if counts[by] <= most:
            result.append(violation)
    return result


def _violation_blocks(
    report: audit_report.AuditReport, look: model.ReportStyle
) -> Iterator[list[str]]:
    """Lines for each policy and binding that found something."""
    violations = _shown(report.violations, look)
    # Violations come as the objects stand in the input; `sorted` keeps that order within a policy.
    result = sorted(violations, key=lambda violation: (violation.policy, violation.binding))
    for (policy, binding), same in groupby(
        result, key=lambda violation: (violation.policy, violation.binding)
    ):
        lines = [f"{policy}/{binding}" if binding else policy]
        for rule, together in groupby(
            same, key=lambda violation: (violation.rule, violation.field)
        ):
            place, field = rule
            where = f"{place}  " if place.file else ""
            lines.append(f"  rule    {where}{field}")
            lines += [line for violation in together for line in _violation(violation, look)]
        yield lines
    omitted = report.violation_count - len(violations)
    if result and omitted:
        hint = "`-v` shows more, `-o jsonl` all of them"
        yield [f"and {model.plural(omitted, 'violation')} more: {hint}"]


def _violation(violation: audit_report.Violation, look: model.ReportStyle) -> Iterator[str]:
    word = look.paint(EFFECT_STYLES[violation.effect], f"{violation.effect:6}")
    place = f"{violation.object.place}  " if violation.object.place.file else ""
    yield f"  {word}  {place}{violation.object.title}: {model.one_line(violation.message)}"


def _tally_table(head: str, rows: Sequence[tuple[str, audit_report.Tally]]) -> Iterator[list[str]]:
    """Yield a table of numbers, none if it would be empty."""
    if rows:
        heads = (head, *(f"{name.upper():>7}" for name in _NUMBERS))
        table = [(name, *(str(getattr(tally, key)) for key in _NUMBERS)) for name, tally in rows]
        yield model.aligned([heads, *table], numbers=range(1, len(heads)))


def _summary(report: audit_report.AuditReport) -> str:
    total = report.total
    parts = [f"{total.denied} would be denied", f"{total.warned} warned about"]
    parts.append(f"{total.audited} audited")
    unread = f", {len(report.problems)} unreadable" if report.problems else ""
    return (
        f"{model.plural(report.objects, 'object')}, {total.matched} matched by policies: "
        f"{', '.join(parts)}{unread} on {report.operation} "
        f"({model.plural(len(report.policies), 'policy')})"
    )


def _fleet_summary(report: audit_report.FleetReport) -> str:
    total = report.total
    unread = sum(bool(source.problems) for _, source in report.sources)
    left_out = f", {model.plural(unread, 'source')} incomplete" if unread else ""
    return (
        f"{model.plural(len(report.sources), 'source')}{left_out}, "
        f"{model.plural(report.objects, 'object')}, "
        f"{total.matched} matched by policies: {total.denied} would be denied, "
        f"{total.warned} warned about, {total.audited} audited"
    )


# --- cases and pages ------------------------------------------------------------------------------


def _policy_case(
    policy: audit_report.AuditedPolicy, report: audit_report.AuditReport
) -> model.ReportCase:
    tally = policy.tally
    against = tally.violating if report.fail_on is audit_report.FailOn.VIOLATION else tally.denied
    if tally.errors:
        outcome = model.CaseState.ERROR
    elif against and report.fail_on is not audit_report.FailOn.NEVER:
        outcome = model.CaseState.FAILED
    else:
        return model.ReportCase("policy", policy.name, policy.place)
    details = "\n".join(
        f"{violation.effect} {violation.object.place} {violation.object.title}: {violation.message}"
        for violation in report.violations
        if violation.policy == policy.name
    )
    counts = f"{tally.violating} of {tally.matched} objects"
    return model.ReportCase("policy", policy.name, policy.place, outcome, counts, details)


def _sections(report: audit_report.AuditReport) -> Iterator[model.Section]:
    total = report.total
    yield model.Section(
        "Audit",
        1,
        f"What policies would say on {report.operation} of what exists.",
        (
            ("objects", report.objects, ""),
            ("matched by policies", total.matched, ""),
            ("would be denied", total.denied, "deny"),
            ("only warned about", total.warned, "warn"),
            ("only audited", total.audited, "audit"),
        ),
    )
    heads = tuple(name.capitalize() for name in _NUMBERS)
    rows = tuple((_policy_cell(policy), *_number_cells(policy.tally)) for policy in report.policies)
    yield model.Section("Policies", table=model.Table(("Policy", *heads), rows))
    if report.groups:
        rows = tuple(
            (model.Cell.named(name), *_number_cells(tally)) for name, tally in report.groups
        )
        table = model.Table((report.summary_by, *heads), rows)
        yield model.Section(f"By {report.summary_by}", table=table)
    if report.violation_count:
        rows = tuple(map(_violation_cells, report.violations))
        table = model.Table(("Effect", "Object", "Policy", "Message"), rows)
        left_out = f"and {report.omitted:,} more" if report.omitted else ""
        yield model.Section("Violations", table=table, left_out=left_out)


def _policy_cell(policy: audit_report.AuditedPolicy) -> model.Cell:
    actions = ", ".join(policy.actions) or ("no binding" if policy.place.file else "")
    return model.Cell.named(policy.name, policy.place, actions)


def _number_cells(tally: audit_report.Tally) -> tuple[model.Cell, ...]:
    effects = ((tally.denied, "deny"), (tally.warned, "warn"), (tally.audited, "audit"))
    return (
        model.Cell.number(tally.matched),
        *(model.Cell.number(count, effect) for count, effect in effects),
        model.Cell.number(tally.errors, "deny"),
    )


def _violation_cells(violation: audit_report.Violation) -> tuple[model.Cell, ...]:
    policy = f"{violation.policy}/{violation.binding}" if violation.binding else violation.policy
    rule = f"{violation.rule}  {violation.field}" if violation.rule.file else violation.field
    return (
        model.Cell(violation.effect, violation.effect),
        model.Cell.named(violation.object.title, violation.object.place),
        model.Cell(policy),
        model.Cell(violation.message, below=(rule,)),
    )


# --- policy reports -------------------------------------------------------------------------------

_POLICY_REPORTS: Final = "wgpolicyk8s.io/v1alpha2"
_OPEN_REPORTS: Final = "openreports.io/v1alpha1"
_SOURCE: Final = "celadon"
_NAME: Final = "celadon-audit"
_SUMMED: Final = ("pass", "fail", "warn", "error", "skip")


def as_policy_reports(view: AuditView) -> str:
    """Return a List of PolicyReports, as JSON, which can be applied: one for each namespace, and a
    ClusterPolicyReport for what is in none (wgpolicyk8s.io/v1alpha2); no items if nothing is
    violated. Results are violations: `fail` where the object would be denied, `warn` where it would
    be warned about or audited, `error` where a policy could not be evaluated."""
    return _reports(view.report, _POLICY_REPORTS, "PolicyReport")


def as_open_reports(view: AuditView) -> str:
    """Return a List of Reports and a ClusterReport, as what follows PolicyReports calls the same
    (openreports.io/v1alpha1)."""
    return _reports(view.report, _OPEN_REPORTS, "Report")


def _reports(report: audit_report.AuditReport, api_version: str, kind: str) -> str:
    by_namespace: dict[str, list[audit_report.Violation]] = {}
    for violation in report.violations:
        by_namespace.setdefault(violation.object.namespace, []).append(violation)
    items = [
        {
            "apiVersion": api_version,
            "kind": kind if namespace else f"Cluster{kind}",
            **_report_of(namespace, by_namespace[namespace]),
        }
        for namespace in sorted(by_namespace)
    ]
    reports = {"apiVersion": "v1", "kind": "List", "items": items}
    return model.json_document(reports)


def _report_of(namespace: str, violations: Sequence[audit_report.Violation]) -> JsonObject:
    counts = Counter(_result(violation) for violation in violations)
    about = {"name": _NAME, "labels": {"app.kubernetes.io/managed-by": _SOURCE}}
    return {
        "metadata": about | ({"namespace": namespace} if namespace else {}),
        "summary": {name: counts[name] for name in _SUMMED},
        "results": [_row(violation) for violation in violations],
    }


def _result(violation: audit_report.Violation) -> str:
    if violation.is_error:
        return "error"
    return "fail" if violation.effect == "deny" else "warn"


def _row(violation: audit_report.Violation) -> dict[str, object]:
    about = violation.object
    reference = {
        "apiVersion": about.api_version,
        "kind": about.kind,
        "namespace": about.namespace,
        "name": about.name,
        "uid": about.uid,
        "resourceVersion": about.resource_version,
    }
    properties = {"binding": violation.binding, "field": violation.field, "param": violation.param}
    return {
        "source": _SOURCE,
        "policy": violation.policy,
        "rule": violation.field,
        "result": _result(violation),
        "scored": True,
        "message": violation.message,
        "resources": [{key: value for key, value in reference.items() if value}],
        "properties": {key: value for key, value in properties.items() if value},
    }


# --- violations as files --------------------------------------------------------------------------

COLUMNS: Final[dict[str, Callable[[audit_report.Violation], object]]] = {
    "file": lambda violation: violation.object.place.file,
    "line": lambda violation: violation.object.place.line,
    "apiVersion": lambda violation: violation.object.api_version,
    "kind": lambda violation: violation.object.kind,
    "namespace": lambda violation: violation.object.namespace,
    "name": lambda violation: violation.object.name,
    "uid": lambda violation: violation.object.uid,
    "effect": lambda violation: violation.effect,
    "policy": lambda violation: violation.policy,
    "binding": lambda violation: violation.binding,
    "param": lambda violation: violation.param,
    "field": lambda violation: violation.field,
    "message": lambda violation: violation.message,
    "error": lambda violation: violation.is_error,
}
"""Of a Parquet file, behind `source`."""
_ROWS: Final = 50_000
_TYPES: Final = {"line": "int64", "error": "bool_"}


class ViolationFile(Protocol):
    """A file that takes violations."""

    def write(self, source: str, violation: audit_report.Violation) -> None:
        """Write a violation of one source. Raises OSError."""
        ...

    def close(self) -> None:
        """All is written. Raises OSError."""
        ...


def violation_file(path: str) -> ViolationFile:
    """Return a new file, by how its name ends. Raises OSError."""
    return _ParquetFile(path) if path.endswith(".parquet") else _LinesFile(path)


class _LinesFile:
    """A file of JSON lines."""

    def __init__(self, path: str) -> None:
        self._stream = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed by close()

    def write(self, source: str, violation: audit_report.Violation) -> None:
        self._stream.write(fleet_violation_line(source, violation))

    def close(self) -> None:
        self._stream.close()


class _ParquetFile:
    """Groups of rows; texts that come again and again are written once in each."""

    def __init__(self, path: str) -> None:
        try:
            import pyarrow  # late: an extra
            from pyarrow import parquet  # late: an extra
        except ImportError:
            raise OSError("Parquet needs a package more: pip install 'celadon[fleet]'") from None
        types = {name: getattr(pyarrow, _TYPES.get(name, "string"))() for name in _NAMES}
        self._schema = pyarrow.schema(types)
        self._table: Any = pyarrow.Table
        self._writer = parquet.ParquetWriter(path, self._schema)
        self._rows: list[dict[str, object]] = []

    def write(self, source: str, violation: audit_report.Violation) -> None:
        row = {name: column(violation) for name, column in COLUMNS.items()}
        self._rows.append({"source": source, **row})
        if len(self._rows) == _ROWS:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(self._table.from_pylist(self._rows, self._schema))
        self._rows = []

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


_NAMES: Final = ("source", *COLUMNS)
