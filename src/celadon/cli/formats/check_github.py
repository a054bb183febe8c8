"""The report as workflow commands: GitHub shows each at its line of the pull request.

See GitHub's documentation of `::error file=…,line=…::…`; values are percent-encoded by its rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from celadon.cli.checking.check_report import Place, Report, State, Violation
from celadon.cli.formats.plain_text import lines


def render(report: Report) -> str:
    """One line per finding."""
    lines = [
        *(
            command("error", Place(problem.file, problem.line), "unreadable input", problem.message)
            for problem in report.problems
        ),
        *(
            command("error", error.place, f"{error.kind} {error.name}", error.message)
            for error in report.policy_errors
        ),
    ]
    for result in report.objects:
        for fault in result.faults:
            text = f"{fault.field}: {fault.message}"
            lines.append(command("error", fault.place, f"{result.title} invalid", text))
        if result.state is State.DENIED:
            text = _with_rules(result.sentence, [one for one in result.violations if one.denies])
            text = f"{text}\nplugin: {result.plugin}" if result.plugin else text
            text = "\n".join([text, *(f"webhook: {one.place}" for one in result.denying)])
            lines.append(command("error", result.place, f"{result.title} denied", text))
        for warning in result.warnings:
            text = _with_rules(warning.text, warning.violations)
            lines.append(command("warning", result.place, result.title, text))
    level = "error" if report.strict else "notice"
    lines += [
        command(level, notice.place, notice.silence.value, notice.message)
        for notice in report.notices
    ]
    return "".join(f"{line}\n" for line in lines)


def _with_rules(text: str, violations: Iterable[Violation]) -> str:
    rules = (f"rule: {one.rule}" for one in violations if one.rule.file)
    return "\n".join([text, *dict.fromkeys(rules)])


def command(level: str, place: Place, title: str, text: str, column: int = 0) -> str:
    """One workflow command; `level` is error, warning or notice."""
    properties = [f"title={_property(title)}"]
    if place.file:
        line = [f"line={place.line}"] if place.line else []
        line += [f"col={column}"] if column else []
        properties = [f"file={_property(place.file)}", *line, *properties]
    return f"::{level} {','.join(properties)}::{_data(text)}"


def _data(text: str) -> str:
    return lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
