"""The report for programs: one JSON or YAML document with the names of the Kubernetes API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from celadon.cli.checking.check_report import (
    Creator,
    Fault,
    Mutated,
    Notice,
    ObjectResult,
    Place,
    PolicyError,
    Report,
    State,
    UnaskedPlugin,
    Violation,
    WebhookCall,
)
from celadon.cli.formats.object_diffs import yaml_text
from celadon.cli.reading.problems import Problem

API_VERSION: Final = "celadon/v1"


def render_json(report: Report) -> str:
    """Two spaces of indentation, text as it is."""
    return json.dumps(document(report), indent=2, ensure_ascii=False) + "\n"


def render_yaml(report: Report) -> str:
    """The same document as YAML, keys in the same order."""
    return yaml_text(document(report))


def document(report: Report) -> dict[str, Any]:
    """The report as plain data; empty members are left out below the top."""
    return {
        "apiVersion": API_VERSION,
        "kind": "CheckReport",
        "summary": {
            "objects": len(report.given),
            "admitted": report.admitted,
            "denied": report.count(State.DENIED),
            "invalid": report.count(State.INVALID),
            "warned": report.count(State.WARNED),
            "untouched": report.count(State.UNTOUCHED),
            "unchanged": report.count(State.UNCHANGED),
            "unasked": report.count(State.UNASKED),
            "policies": report.policies,
            "bindings": report.bindings,
            "webhooks": report.webhooks,
            "generated": len(report.created),
            "generatedRefused": sum(one.is_refused for one in report.created),
            "exitCode": int(report.exit),
        },
        "objects": [_object(result) for result in report.objects],
        "plugins": plugins_data(report.plugins, report.unasked_plugins),
        "policyErrors": [policy_error_data(error) for error in report.policy_errors],
        "notices": [notice_data(notice) for notice in report.notices],
        "problems": [problem_data(problem) for problem in report.problems],
    }


def filled(**members: object) -> dict[str, Any]:
    """Those that say something."""
    return {key: value for key, value in members.items() if value not in ("", (), [], {}, None)}


def place_data(place: Place) -> dict[str, Any]:
    """File and line."""
    return filled(file=place.file, line=place.line or None)


def plugins_data(asked: Sequence[str], unasked: Sequence[UnaskedPlugin]) -> dict[str, Any]:
    """Which of the server's own plugins were asked, and which could not be."""
    return {
        "asked": list(asked),
        "unasked": [
            filled(plugin=one.plugin, reason=one.why, objects=one.objects or None)
            for one in unasked
        ],
    }


def _creator(creator: Creator) -> dict[str, Any]:
    """The workload of a file, and who asks in its stead."""
    return {"object": creator.title, **place_data(creator.place), "user": creator.user}


def _object(result: ObjectResult) -> dict[str, Any]:
    return place_data(result.place) | filled(
        apiVersion=result.api_version,
        kind=result.kind,
        namespace=result.namespace,
        name=result.name,
        generatedBy=None if result.created_by is None else _creator(result.created_by),
        operation=result.operation,
        verdict=result.state.value,
        allowed=result.is_admitted,
        code=None if result.state is State.UNASKED else result.code,
        message=result.sentence,
        plugin=result.plugin,
        fits=None if result.ordinal is None else result.ordinal[0] - 1,
        wanted=None if result.ordinal is None else result.ordinal[1],
        status=dict(result.status) if result.status is not None else None,
        warnings=[warning.text for warning in result.warnings],
        auditAnnotations=dict(result.audit_annotations),
        policies=result.policies,
        mutation=None if result.mutated is None else _mutation(result.mutated),
        webhooks=[_webhook(call) for call in result.webhooks],
        faults=[_fault(fault) for fault in result.faults],
        violations=[_violation(violation, result) for violation in result.violations],
    )


def _webhook(call: WebhookCall) -> dict[str, Any]:
    return filled(
        configuration=call.configuration,
        webhook=call.webhook,
        type=call.phase,
        outcome=call.outcome.value,
        reinvoked=call.again or None,
        place=place_data(call.place),
        message=call.message,
        patch=[dict(operation) for operation in call.patch],
        warnings=list(call.warnings),
    )


def _mutation(mutated: Mutated) -> dict[str, Any]:
    """The verdict is about the object with this patch."""
    return {
        "policies": list(mutated.policies),
        "patch": [dict(operation) for operation in mutated.patch],
        "steps": [
            filled(
                policy=step.policy,
                binding=step.binding,
                param=step.param,
                field=step.field,
                rule=place_data(step.rule),
                round=step.round or None,
                patch=[dict(operation) for operation in step.patch],
            )
            for step in mutated.steps
        ],
    }


def _fault(fault: Fault) -> dict[str, Any]:
    said = filled(field=fault.field, message=fault.message, meant=fault.meant)
    return place_data(fault.place) | said


def _violation(violation: Violation, result: ObjectResult) -> dict[str, Any]:
    """`warning` is the text of the warning, cut or merged as it is, that the client gets of it."""
    texts = (warning.text for warning in result.warnings if violation in warning.violations)
    return filled(
        policy=violation.policy,
        binding=violation.binding,
        param=violation.param,
        field=violation.field,
        rule=place_data(violation.rule),
        message=violation.message,
        validationActions=list(violation.actions),
        warning=next(texts, ""),
        error=violation.is_error or None,
    )


def policy_error_data(error: PolicyError) -> dict[str, Any]:
    """Of a policy that cannot be used."""
    return place_data(error.place) | filled(kind=error.kind, name=error.name, message=error.message)


def notice_data(notice: Notice) -> dict[str, Any]:
    """Of what went by in silence."""
    return place_data(notice.place) | filled(
        reason=notice.silence.value, message=notice.message, help=notice.help
    )


def problem_data(problem: Problem) -> dict[str, Any]:
    """Of what could not be read."""
    return filled(
        file=problem.file, line=problem.line or None, message=problem.message, help=problem.help
    )
