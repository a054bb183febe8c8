"""Explanations for programs: the whole tree as JSON, names in camel case, what is empty left out.

Values of the language are texts in its own notation (`1u`, `duration("90s")`), which tells types
apart; long ones end in an ellipsis. Fields of policies are paths.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.admission import (
    Request,
    Source,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from celadon.admission.explanation import Explanation, ExpressionRun, HookExplanation
from celadon.admission.mutating import Change
from celadon.admission.registration import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
)
from celadon.cel import EvaluationError
from celadon.cli.explaining.annotated_source import Loop, Mark, Round, Snippet, State, annotated
from celadon.cli.explaining.explained_objects import ExplainedObject
from celadon.cli.explaining.value_texts import brief
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.registry import patch_between

_ROOM: Final = 4_000
"""Characters of a value."""


def render(found: Sequence[ExplainedObject]) -> str:
    """One document for all objects."""
    data = {"objects": [_object(one) for one in found]}
    return f"{json.dumps(data, indent=2, ensure_ascii=False)}\n"


def _object(one: ExplainedObject) -> dict[str, Any]:
    result = one.result
    found = {
        "object": result.title,
        "place": str(result.place),
        "verdict": result.state.value,
        "code": result.code,
        "message": result.sentence,
        "plugin": result.plugin,
        "generatedBy": "" if result.created_by is None else result.created_by.title,
        "warnings": [warning.text for warning in result.warnings],
        "auditAnnotations": dict(result.audit_annotations),
        "request": _request(one.validation.request),
        "mutating": None if one.mutation is None else _explanation(one.mutation),
        "validating": _explanation(one.validation),
        "mutatingWebhooks": [_hook(found) for found in one.mutating_hooks],
        "validatingWebhooks": [_hook(found) for found in one.validating_hooks],
    }
    return _filled(found)


def _hook(one: HookExplanation) -> Any:  # noqa: ANN401 - JSON
    return _filled(
        {
            "name": one.hook.name,
            "configuration": one.hook.configuration,
            "failurePolicy": "Ignore" if one.hook.ignores_failures else "Fail",
            "asked": one.asked,
            "match": _data(one.match),
            "matchConditions": _data(one.conditions),
            "budgets": _data(one.budgets),
            "ignored": one.ignored,
            "refusal": "" if one.refusal is None else str(one.refusal),
        }
    )


def _explanation(one: Explanation) -> Any:  # noqa: ANN401 - JSON
    return _filled({"exempt": one.exempt, "policies": _data(one.policies)})


def _data(value: Any) -> Any:  # noqa: ANN401 - JSON of anything in an explanation
    match value:
        case None | bool() | int() | str():
            return value
        case enum.Enum():
            return _camel(value.name.lower())
        case Source():
            return value.path.text
        case GroupVersionKind() | GroupVersionResource():
            return dict(zip(value._fields, value, strict=True))
        case ExpressionRun():
            return _run(value)
        case ValidatingAdmissionPolicy() | MutatingAdmissionPolicy():
            return {"kind": type(value).__name__, "name": value.name}
        case ValidatingAdmissionPolicyBinding() | MutatingAdmissionPolicyBinding():
            return _filled({"name": value.name, "actions": list(value.spec.validation_actions)})
        case Change():
            return {"patch": list(patch_between(value.before, value.after))}
        case Mapping():
            return {str(key): _data(one) for key, one in value.items()}
        case list() | tuple():
            return [_data(one) for one in value]
        case _ if dataclasses.is_dataclass(value):
            fields = dataclasses.fields(value)
            return _filled({_camel(f.name): _data(getattr(value, f.name)) for f in fields})
    return str(value)


def _request(one: Request) -> dict[str, Any]:
    return _filled(
        {
            "operation": one.operation.value,
            "kind": _data(one.kind),
            "resource": _data(one.resource),
            "subresource": one.subresource,
            "namespace": one.namespace,
            "name": one.name,
            "user": one.user.name,
            "groups": list(one.user.groups),
        }
    )


def _run(one: ExpressionRun) -> dict[str, Any]:
    snippet = annotated(one)
    return _filled(
        {
            "field": one.expression.source.path.text,
            **_value(one.value),
            "cost": one.cost,
            "charged": one.charged,
            "variables": [_data(read.expression.source) for read in one.variables],
            **_snippet(snippet),
        }
    )


def _snippet(one: Snippet) -> dict[str, Any]:
    return {
        "parts": [_mark(mark, one.text) for mark in one.marks],
        "loops": [_loop(loop, one.text) for loop in one.loops],
    }


def _mark(one: Mark, text: str) -> dict[str, Any]:
    came = {"evaluated": False} if one.state is State.SKIPPED else _value(one.value)
    parts = [_mark(part, text) for part in one.parts]
    return _filled(
        {
            "text": text[one.start : one.end],
            "start": one.start,
            "end": one.end,
            **came,
            "cost": one.cost,
            "parts": parts,
        }
    )


def _loop(one: Loop, text: str) -> dict[str, Any]:
    return {
        "text": text[one.start : one.end],
        "count": one.count,
        "rounds": [_round(each) for each in one.rounds],
    }


def _round(one: Round) -> dict[str, Any]:
    variables = {name: brief(value, _ROOM) for name, value in one.variables}
    return {"number": one.number, "variables": variables, **_filled(_snippet(one.snippet))}


def _value(value: Any) -> dict[str, str]:  # noqa: ANN401 - a value of CEL
    if isinstance(value, EvaluationError):
        return {"error": value.message}
    return {"value": brief(value, _ROOM)}


def _filled(members: Mapping[str, Any]) -> dict[str, Any]:
    """Those that say something; false and 0 do."""
    return {key: one for key, one in members.items() if one is not None and one not in ("", [], {})}


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)
