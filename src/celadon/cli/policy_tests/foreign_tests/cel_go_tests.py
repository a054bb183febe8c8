"""`tests.yaml` of cel-go's policies to a PolicyTest, for admission policies among them.

Sections of tests, each with an `input` (variables by name, `value` or `expr`) and an `output`. What
a cluster gives a policy are `object`, `oldObject`, `params`, `request` and `namespaceObject`; names
with dots are fields of them. A policy's output is what speaks against the request: a text (or
false) is deny, nothing (`optional.none()`, true) is admit. Policies are those beside the file.
Format: github.com/google/cel-go `policy/test_util.go` and `tools/celtest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.cel import CelError, Environment
from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.cli.policy_tests.foreign_tests.review_tests import request_fields
from celadon.cli.policy_tests.foreign_tests.rewriting import Rewriting, Rewritten
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import metadata

_SECTIONS: Final = ("section", "sections")
_FIELDS: Final = frozenset({"name", "description", *_SECTIONS})
_REQUEST_FIELDS: Final = frozenset({"operation", "userInfo", "namespace", "subResource", "dryRun"})
_NOTHING: Final = frozenset({"optional.none()", "null"})


class _UnfitError(ValueError):
    """What has no equal in a PolicyTest."""


def is_cel_go_test(value: object) -> bool:
    """Whether a document is one."""
    return isinstance(value, Mapping) and any(
        isinstance(section, Mapping) and isinstance(section.get("tests"), list)
        for name in _SECTIONS
        if isinstance(value.get(name), list)
        for section in value[name]
    )


def rewritten(chunk: Chunk, value: Any) -> Rewritten:  # noqa: ANN401 - any JSON
    """The test."""
    way = Rewriting(chunk, value)
    way.refuse_others((), _FIELDS)
    for name in _SECTIONS:
        for path, section in way.maps((name,)):
            way.refuse_others(path, {"name", "description", "tests"})
            for at, test in way.maps((*path, "tests")):
                way.refuse_others(at, {"name", "description", "input", "output"})
                _add(way, at, section, test)
    return way.done("")


def _add(way: Rewriting, path: Path, section: Mapping[str, Any], test: Mapping[str, Any]) -> None:
    try:
        case = _case(_variables(test.get("input") or {}))
        expect = _expected(test.get("output"))
    except _UnfitError as error:
        way.say(path, str(error))
        return
    name = f"{section.get('name', 'tests')}: {test.get('name', 'test')}"
    way.add({"name": name, **case, "expect": expect}, path)


def _variables(given: Mapping[str, Any]) -> dict[str, Any]:
    """The input as values by the names of variables."""
    found: dict[str, Any] = {}
    for name, one in given.items():
        *above, last = str(name).split(".")
        holder = found
        for step in above:
            holder = holder.setdefault(step, {})
        if not isinstance(one, Mapping) or not {"value", "expr"} & one.keys():
            raise _UnfitError(f"input `{name}` has neither `value` nor `expr`")
        holder[last] = one["value"] if "value" in one else _evaluated(one["expr"])
    return found


def _case(variables: dict[str, Any]) -> dict[str, Any]:
    request = variables.pop("request", None) or {}
    namespace = variables.pop("namespaceObject", None)
    params = variables.pop("params", None)
    about = {name: variables.pop(name, None) for name in ("object", "oldObject")}
    unknown = sorted({*variables, *(request.keys() - _REQUEST_FIELDS)})
    if unknown:
        raise _UnfitError(f"a cluster has no variable `{unknown[0]}` for an admission policy")
    case = request_fields({**request, **{k: one for k, one in about.items() if one is not None}})
    if "object" not in case:
        raise _UnfitError("`object` or `oldObject` is needed")
    if "oldObject" in case:
        case.setdefault("operation", "UPDATE")
    elif about["object"] is None:
        case.setdefault("operation", "DELETE")
    if params is not None:
        case["params"] = [params]
    if namespace is not None:
        case["namespace"] = {"labels": metadata.labels(namespace)}
    return case


def _expected(output: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    value: object = output
    if isinstance(output, Mapping):
        value = output["value"] if "value" in output else _evaluated(output.get("expr"))
    elif isinstance(output, str):
        value = _evaluated(output)
    if value is None or value is True:
        return {"verdict": CaseVerdict.ADMIT.value}
    if value is False:
        return {"verdict": CaseVerdict.DENY.value}
    if isinstance(value, str):
        return {"verdict": CaseVerdict.DENY.value, "message": value}
    raise _UnfitError("the output of an admission policy is a message, true, false or nothing")


def _evaluated(expression: object) -> object:
    """What an expression without variables comes to."""
    text = str(expression)
    if text.strip() in _NOTHING:
        return None
    environment = Environment({})
    try:
        return environment.program(environment.compile(text).checked()).evaluate({})
    except CelError as error:
        raise _UnfitError(f"`{text}` cannot be evaluated: {error}") from error
