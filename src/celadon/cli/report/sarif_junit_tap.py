"""Reports for continuous integration: GitHub's annotations, JUnit XML, SARIF, TAP.

Each is a function of any view that has findings and cases.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from celadon import __version__
from celadon.cli.check.check_report import Place
from celadon.cli.reading.documents import Problem, is_address
from celadon.cli.report import report_model as model
from celadon.kube import Json, JsonObject
from celadon.late_patterns import late_pattern


def _relative(file: str) -> str:
    """Return a path as a repository has it: without the `./` of `celadon check .`."""
    return file if is_address(file) else os.path.normpath(file)


# --- GitHub -------------------------------------------------------------------------------------

_GITHUB_LEVELS: Final = {
    model.Level.ERROR: "error",
    model.Level.WARNING: "warning",
    model.Level.NOTE: "notice",
}


def as_github(view: model.ReportView[Any]) -> str:
    """Workflow commands, one for each finding: GitHub shows it at its line of the pull request.

    See GitHub's documentation of `::error file=…,line=…::…`; values are percent-encoded by its
    rules.
    """
    problems = [
        _command(
            "error", _place(problem), "unreadable input", model.helped(problem), problem.column
        )
        for problem in view.problems
    ]
    for finding in view.findings():
        text = "\n".join(
            [finding.message, *finding.details, *([finding.help] if finding.help else [])]
        )
        problems.append(
            _command(
                _GITHUB_LEVELS[finding.level], finding.place, finding.title, text, finding.column
            )
        )
    return "".join(f"{command}\n" for command in problems)


def _command(level: str, place: Place, title: str, text: str, column: int) -> str:
    properties = [f"title={_property(title)}"]
    if place.file:
        line = [f"line={place.line}"] if place.line else []
        line += [f"col={column}"] if column else []
        properties = [f"file={_property(_relative(place.file))}", *line, *properties]
    return f"::{level} {','.join(properties)}::{_encoded(text)}"


def _encoded(text: str) -> str:
    return model.lines(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _encoded(text).replace(":", "%3A").replace(",", "%2C")


# --- JUnit --------------------------------------------------------------------------------------

_NOT_XML: Final = late_pattern(
    "[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
"""Besides what no document may have, control characters that terminals obey."""


def as_junit(view: model.ReportView[Any]) -> str:
    """Return an XML document in UTF-8 with one suite: a case for each input that could not be read,
    then those of the view."""
    unread = [
        model.ReportCase(
            "input", problem.file, _place(problem), model.CaseState.ERROR, model.helped(problem)
        )
        for problem in view.problems
    ]
    cases = [*unread, *view.cases()]
    failures = sum(case.outcome is model.CaseState.FAILED for case in cases)
    errors = sum(case.outcome is model.CaseState.ERROR for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites {counts}>",
            f'<testsuite name="{view.command}" {counts}>',
            *map(_junit_case, cases),
            "</testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _junit_case(case: model.ReportCase) -> str:
    place = case.place
    file = _attribute(_relative(place.file))
    where = f" file={file} line={_attribute(str(place.line))}" if place.file else ""
    head = f"<testcase classname={_attribute(case.group)} name={_attribute(case.name)}{where}"
    body = _junit_body(case)
    return f"{head}>{body}</testcase>" if body else f"{head}/>"


def _junit_body(case: model.ReportCase) -> str:
    if case.outcome is model.CaseState.PASSED:
        return f"<system-out>{_content(case.output)}</system-out>" if case.output else ""
    tag = case.outcome.value
    head = f"<{tag} message={_attribute(case.message)}"
    text = case.details or ("" if case.outcome is model.CaseState.SKIPPED else case.message)
    return f"{head}>{_content(text)}</{tag}>" if text else f"{head}/>"


def _content(text: str) -> str:
    return _harmless(escape(_NOT_XML.sub("\ufffd", text), {"\r": "&#13;"}))


def _attribute(text: str) -> str:
    return _harmless(quoteattr(_NOT_XML.sub("\ufffd", text)))


def _harmless(text: str) -> str:
    """Return the text for readers of XML, without commands in the log of a workflow."""
    return model.COMMAND.sub(lambda match: f"{match[1] or ''}&#{ord(match[0][-1])};", text)


# --- TAP ----------------------------------------------------------------------------------------


def as_tap(view: model.ReportView[Any]) -> str:
    """Version 14 of the Test Anything Protocol; what is known of a failure is in a YAML block.
    Remarks are left out."""
    points = [
        ("not ok", _tap_text(problem.position()), {"message": problem.message})
        for problem in view.problems
    ]
    points += [_tap_point(case) for case in view.cases() if not case.remark]
    result = ["TAP version 14", f"1..{len(points)}"]
    for number, (word, text, members) in enumerate(points, 1):
        result.append(f"{word} {number} - {text}")
        result += _tap_block(members)
    return "".join(f"{line}\n" for line in result)


def _tap_point(case: model.ReportCase) -> tuple[str, str, dict[str, str]]:
    """Return whether it passed, what it is called, and what is known of it."""
    title = _tap_text(case.title or f"{case.group} {case.name}")
    if case.outcome is model.CaseState.SKIPPED:
        return "ok", f"{title} # SKIP {_tap_text(case.message)}", {}
    text = case.details or case.output or case.message
    members = {"at": str(case.place), "message": text} if text else {}
    return ("ok" if case.outcome is model.CaseState.PASSED else "not ok"), title, members


def _tap_text(text: str) -> str:
    """Return a description as one line, in which `#` and backslashes are escaped."""
    return re.sub(r"([\\#])", r"\\\1", model.one_line(" ".join(text.split())))


_SHARP: Final = r"\u0023"


def _tap_block(members: Mapping[str, str]) -> Iterator[str]:
    """Texts as JSON are YAML; two `#` might begin a command in the log of a workflow."""
    if members:
        yield "  ---"
        for name, text in members.items():
            yield f"  {name}: {json.dumps(text).replace('##', '#' + _SHARP)}"
        yield "  ..."


# --- SARIF --------------------------------------------------------------------------------------

_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(view: model.ReportView[Any]) -> str:
    """SARIF 2.1.0, which code scanning services read: one run with the rules it knows, a result
    for each finding where the object stands, and a notification for each input that could not be
    read."""
    findings = [part for finding in view.findings() for part in finding.parts or (finding,)]
    rules = view.rules(list(dict.fromkeys(finding.group for finding in findings)))
    numbers = {rule.group: number for number, rule in enumerate(rules)}
    driver = {
        "name": "celadon",
        "semanticVersion": __version__,
        "rules": list(map(_sarif_rule, rules)),
    }
    invocation = {
        "executionSuccessful": not view.problems,
        "toolExecutionNotifications": list(map(_sarif_notification, view.problems)),
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(finding, numbers[finding.group]) for finding in findings],
        "invocations": [invocation],
    }
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return model.json_document(document)


def _sarif_rule(rule: model.FindingRule) -> dict[str, Json]:
    result: dict[str, Json] = {"id": rule.group, "name": rule.name}
    result["shortDescription"] = {"text": rule.text}
    if rule.doc:
        result["fullDescription"] = {"text": rule.doc}
    if rule.help:
        result["help"] = {"text": rule.help}
    if rule.level is not None:
        result["defaultConfiguration"] = {"level": rule.level.value}
    return result


def _sarif_result(finding: model.Finding, number: int) -> JsonObject:
    location: dict[str, Json] = {"logicalLocations": [{"fullyQualifiedName": finding.subject}]}
    if finding.place.file:
        location = {"physicalLocation": _sarif_location(finding.place, finding.column), **location}
    result = {
        "ruleId": finding.group,
        "ruleIndex": number,
        "level": finding.level.value,
        "message": {
            "text": f"{finding.message}. Help: {finding.help}" if finding.help else finding.message
        },
        "locations": [location],
    }
    if finding.related:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _sarif_location(related.place),
                "message": {"text": related.text},
            }
            for number, related in enumerate(finding.related, 1)
        ]
    return result


def _sarif_notification(problem: Problem) -> dict[str, Json]:
    return {
        "level": "error",
        "message": {"text": model.helped(problem)},
        "locations": [{"physicalLocation": _sarif_location(_place(problem))}],
    }


def _sarif_location(place: Place, column: int = 0) -> dict[str, Json]:
    uri = quote(_relative(place.file).replace("\\", "/"))
    location: dict[str, Json] = {"artifactLocation": {"uri": uri}}
    if place.line:
        location["region"] = {"startLine": place.line, "startColumn": column or 1}
    return location


def _place(problem: Problem) -> Place:
    return Place(problem.file, problem.line)
