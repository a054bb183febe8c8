"""The report as JUnit XML: one suite, one case per object, per broken policy, per unread input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from celadon.cli.checking.check_report import ObjectResult, Report, Violation
from celadon.patterns import late_pattern

_NOT_XML: Final = late_pattern("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """The document, UTF-8."""
    return suites("celadon check", [*_cases(report)])


def suites(name: str, cases: list[str]) -> str:
    """A document with one suite of these cases."""
    failures = sum("<failure" in case for case in cases)
    errors = sum("<error" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites {counts}>",
            f'<testsuite name="{name}" {counts}>',
            *cases,
            "</testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _cases(report: Report) -> Iterator[str]:
    for problem in report.problems:
        yield case("input", problem.file, problem.file, problem.line, bad("error", problem.message))
    for error in report.policy_errors:
        name = f"{error.kind} {error.name}"
        yield case("policy", name, error.place.file, error.place.line, bad("error", error.message))
    for result in report.objects:
        yield case(
            "object" if result.created_by is None else "generated",
            result.title,
            result.place.file,
            result.place.line,
            _result(report, result),
        )
    for notice in report.notices:
        body = (
            bad("failure", notice.message)
            if report.strict
            else f"<skipped message={_attribute(notice.message)}/>"
        )
        yield case("notice", notice.silence.value, notice.place.file, notice.place.line, body)


def _result(report: Report, result: ObjectResult) -> str:
    if result.is_refused:
        places = [f"field: {one.place} {one.field}" for one in result.faults]
        places += [_rule(one) for one in result.violations if one.denies]
        places += [f"plugin: {result.plugin}"] if result.plugin else []
        places += [f"webhook: {one.place} {one.configuration}" for one in result.denying]
        places += _warnings(result)
        details = "\n".join([result.sentence, *places])
        return bad("error" if result.has_error else "failure", result.sentence, details)
    if result.unasked:
        names = ", ".join(dict.fromkeys(one.webhook for one in result.unasked))
        text = f"webhooks not asked: {names}"
        if report.needs_answers:
            return bad("error", text, "\n".join([text, *_warnings(result)]))
        return f"<skipped message={_attribute(text)}/>"
    if not result.warnings:
        return ""
    warnings = "\n".join(_warnings(result))
    if report.fail_on_warning:
        return bad("failure", result.warnings[0].text, warnings)
    return f"<system-out>{_text(warnings)}</system-out>"


def _warnings(result: ObjectResult) -> Iterator[str]:
    """Each warning, and behind it the rules it is due to."""
    for warning in result.warnings:
        yield warning.text
        yield from map(_rule, warning.violations)


def _rule(violation: Violation) -> str:
    return f"rule: {violation.rule} {violation.field}"


def case(group: str, name: str, file: str, line: int, body: str) -> str:
    """One case; with an empty body it passed."""
    where = f" file={_attribute(file)} line={_attribute(str(line))}" if file else ""
    head = f"<testcase classname={_attribute(group)} name={_attribute(name)}{where}"
    return f"{head}>{body}</testcase>" if body else f"{head}/>"


def bad(tag: str, message: str, details: str = "") -> str:
    """The body of a case that did not pass: `failure`, `error` or `skipped`."""
    return f"<{tag} message={_attribute(message)}>{_text(details or message)}</{tag}>"


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))
