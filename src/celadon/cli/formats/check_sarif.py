"""The report as SARIF: a rule for each policy and each built-in plugin that has something against
an object, and one for each other reason. Results are where the objects stand, and name the rules of
policies beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from celadon.cli.checking.check_report import ObjectResult, Place, Report, State, Violation
from celadon.cli.formats import sarif
from celadon.cli.formats.sarif import Result

_DENIED: Final = "denied"
_INVALID: Final = "invalid"
_WARNING: Final = "server-warning"
_BROKEN: Final = "policy-error"
_POLICY: Final = "policy/"
_PLUGIN: Final = "plugin/"
_NOTICE: Final = "notice/"
_DESCRIPTIONS: Final = {
    _DENIED: "the API server, or a webhook, refuses the object",
    _INVALID: "the API server refuses the object before it asks any policy",
    _WARNING: "the API server, or a webhook, warns about the object",
    _BROKEN: "a policy that the API server would not accept, so that nothing is checked by it",
}


def render(report: Report) -> str:
    """One run, with the rules that have results."""
    results = list(_results(report))
    rules = dict.fromkeys(one.rule for one in results)
    return sarif.document([_rule(name) for name in rules], results, report.problems)


def _rule(name: str) -> dict[str, Any]:
    text = _DESCRIPTIONS.get(name, f"admission policy {name.removeprefix(_POLICY)}")
    if name.startswith(_PLUGIN):
        text = f"admission plugin {name.removeprefix(_PLUGIN)}"
    if name.startswith(_NOTICE):
        text = f"went by in silence: {name.removeprefix(_NOTICE).replace('-', ' ')}"
    return {"id": name, "name": name, "shortDescription": {"text": text}}


def _results(report: Report) -> Iterator[Result]:
    for error in report.policy_errors:
        name = f"{error.kind} {error.name}"
        yield Result(_BROKEN, "error", error.message, _position(error.place), name)
    for one in report.objects:
        yield from _faults(one)
        if one.state is State.DENIED:
            yield from _denials(one)
        level = "error" if report.fail_on_warning else "warning"
        for warning in one.warnings:
            rule = _rule_of(warning.violations, _WARNING)
            yield _about(one, rule, level, warning.text, warning.violations)
    for notice in report.notices:
        level = "error" if report.strict else "note"
        place = _position(notice.place)
        rule = _NOTICE + notice.silence.value
        yield Result(rule, level, notice.message, place, notice.silence.value)


def _faults(one: ObjectResult) -> Iterator[Result]:
    if one.state is State.INVALID and not one.faults:
        yield _about(one, _INVALID, "error", one.sentence, ())
    for fault in one.faults:
        text = f"{fault.field}: {fault.message}"
        name = f"{one.title} {fault.field}"
        yield Result(_INVALID, "error", text, _position(fault.place), name)


def _denials(one: ObjectResult) -> Iterator[Result]:
    """The violation of which the server speaks with its sentence, others with their own."""
    against = [violation for violation in one.violations if violation.denies]
    if one.plugin or not against:
        related = [(_position(call.place), "webhook") for call in one.denying]
        place = _position(one.place)
        rule = _PLUGIN + one.plugin if one.plugin else _DENIED
        yield Result(rule, "error", one.sentence, place, one.title, related)
        return
    for violation in against:
        text = one.sentence if violation == one.denial else violation.message
        yield _about(one, _POLICY + violation.policy, "error", text, [violation])


def _rule_of(violations: Sequence[Violation], otherwise: str) -> str:
    return _POLICY + violations[0].policy if violations else otherwise


def _about(
    one: ObjectResult, rule: str, level: str, text: str, violations: Iterable[Violation]
) -> Result:
    related = [(_position(v.rule), v.field) for v in violations if v.rule.file]
    return Result(rule, level, text, _position(one.place), one.title, related)


def _position(place: Place) -> sarif.Position:
    return sarif.Position(place.file, place.line)
