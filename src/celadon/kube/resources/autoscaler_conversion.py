"""HorizontalPodAutoscalers as autoscaling/v1 and as v2 have them.

Version 1 knows the usage of the processor alone; the rest travels in annotations. After
k8s.io/kubernetes `pkg/apis/autoscaling/v1/conversion.go`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from celadon.kube import metadata
from celadon.kube.go.go_text import json_text
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.protobuf.message_table import ordered_message
from celadon.kube.releases import is_since
from celadon.kube.schemas.struct_decoding import StructCodec, codec_for, decode
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.well_known_values import AUTOSCALING_PREFIX, DEFAULT_CPU_UTILIZATION

METRICS: Final = f"{AUTOSCALING_PREFIX}metrics"
CURRENT_METRICS: Final = f"{AUTOSCALING_PREFIX}current-metrics"
CONDITIONS: Final = f"{AUTOSCALING_PREFIX}conditions"
BEHAVIOR: Final = f"{AUTOSCALING_PREFIX}behavior"
_TRAVELLING: Final = frozenset({METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR})
_TOLERANCES: Final = frozenset(
    {f"{AUTOSCALING_PREFIX}scale-down-tolerance", f"{AUTOSCALING_PREFIX}scale-up-tolerance"}
)
_TOLERANCE_SINCE: Final = "1.33"
_OF_CPU: Final = "targetCPUUtilizationPercentage"
_CPU_NOW: Final = "currentCPUUtilizationPercentage"


class _Field(NamedTuple):
    """A field of a metric: its name in v1, its place in v2, and what v1 writes where there is none;
    None for a field that is left out."""

    name: str
    place: tuple[str, ...]
    zero: Json = None


def _source(*fields: _Field | tuple[Any, ...]) -> tuple[_Field, ...]:
    return tuple(_Field(*field) for field in fields)


_NAME: Final = ("metricName", ("metric", "name"), "")
_SELECTOR: Final = ("selector", ("metric", "selector"))
_RESOURCE: Final = ("name", ("name",), "")
_CONTAINER: Final = ("container", ("container",), "")
_TARGET: Final = ("target", "value"), ("target", "averageValue"), ("target", "averageUtilization")
_NOW: Final = ("current", "value"), ("current", "averageValue"), ("current", "averageUtilization")

SOURCES: Final[Mapping[str, tuple[_Field, ...]]] = {
    "object": _source(
        ("target", ("describedObject",), {}),
        *(_NAME, ("targetValue", _TARGET[0], "0"), _SELECTOR, ("averageValue", _TARGET[1])),
    ),
    "pods": _source(_NAME, ("targetAverageValue", _TARGET[1], "0"), _SELECTOR),
    "resource": _source(
        *(_RESOURCE, ("targetAverageUtilization", _TARGET[2]), ("targetAverageValue", _TARGET[1]))
    ),
    "containerResource": _source(
        *(_RESOURCE, ("targetAverageUtilization", _TARGET[2]), ("targetAverageValue", _TARGET[1])),
        _CONTAINER,
    ),
    "external": _source(
        *(_NAME, ("metricSelector", _SELECTOR[1])),
        *(("targetValue", _TARGET[0]), ("targetAverageValue", _TARGET[1])),
    ),
}
"""What metrics are asked for, by the field that says it, in the order of v1."""
STATUSES: Final[Mapping[str, tuple[_Field, ...]]] = {
    "object": _source(
        ("target", ("describedObject",), {}),
        *(_NAME, ("currentValue", _NOW[0], "0"), _SELECTOR, ("averageValue", _NOW[1])),
    ),
    "pods": _source(_NAME, ("currentAverageValue", _NOW[1], "0"), _SELECTOR),
    "resource": _source(
        *(_RESOURCE, ("currentAverageUtilization", _NOW[2])), ("currentAverageValue", _NOW[1], "0")
    ),
    "containerResource": _source(
        *(_RESOURCE, ("currentAverageUtilization", _NOW[2])),
        *(("currentAverageValue", _NOW[1], "0"), _CONTAINER),
    ),
    "external": _source(
        *(_NAME, ("metricSelector", _SELECTOR[1])),
        *(("currentValue", _NOW[0], "0"), ("currentAverageValue", _NOW[1])),
    ),
}
"""What metrics have been seen."""


def to_v1(obj: JsonObject) -> JsonDict:
    """Return an autoscaler of v2 as v1 has it. AttributeError, TypeError or ValueError for what has
    not the shape of its kind."""
    spec, status = _part(obj, "spec"), _part(obj, "status")
    metrics, current_metrics = (
        list(spec.pop("metrics", None) or ()),
        status.pop("currentMetrics", None) or (),
    )
    texts: dict[str, str] = {}
    targets = [target for target in map(_cpu_target, metrics) if target is not None]
    if targets:
        spec[_OF_CPU] = targets[0]
    others = [_in_v1(metric, SOURCES) for metric in metrics if _cpu_target(metric) is None]
    for name, value in (
        (METRICS, others),
        (CURRENT_METRICS, [_in_v1(metric, STATUSES) for metric in current_metrics]),
        (CONDITIONS, [_condition(condition) for condition in status.pop("conditions", None) or ()]),
    ):
        if value:
            texts[name] = json_text(value)
    behavior = spec.pop("behavior", None)
    if behavior is not None:
        texts[BEHAVIOR] = json_text(_inside(behavior))
    for used in map(_cpu_usage, current_metrics):
        if used is not None:
            status[_CPU_NOW] = used
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    status = ordered_message(status, "autoscaling.v1.HorizontalPodAutoscalerStatus")
    return {**obj, "metadata": _annotated(obj, texts), "spec": spec, "status": status}


def to_v2(obj: JsonObject) -> JsonDict:
    """Return an autoscaler of v1 as v2 has it; annotations that Go could not read say nothing."""
    notes, spec, status = metadata.annotations(obj), _part(obj, "spec"), _part(obj, "status")
    metrics = list(_listed(notes, METRICS) or ())
    utilization = spec.pop(_OF_CPU, None)
    if utilization is None and not metrics:
        utilization = DEFAULT_CPU_UTILIZATION
    if utilization is not None:
        target = {"type": "Utilization", "averageUtilization": utilization}
        metrics.append({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    spec["metrics"] = metrics
    behavior = _read(notes.get(BEHAVIOR, ""), ("spec", "behavior"), _outside)
    if behavior:
        spec["behavior"] = behavior
    used, current_metrics = status.pop(_CPU_NOW, None), _listed(notes, CURRENT_METRICS)
    status["currentMetrics"] = None
    if used is not None:
        usage = {"name": "cpu", "current": {"averageUtilization": used}}
        status["currentMetrics"] = [{"type": "Resource", "resource": usage}]
    if current_metrics is not None:
        status["currentMetrics"] = current_metrics or None
    conditions = _listed(notes, CONDITIONS)
    if conditions:
        status["conditions"] = conditions
    status.setdefault("desiredReplicas", 0)
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    return {**obj, "metadata": _annotated(obj, {}), "spec": spec, "status": status}


# --- Metrics -----------------------------------------------------------------


def _in_v1(metric: JsonObject, sources: Mapping[str, tuple[_Field, ...]]) -> JsonDict:
    result: JsonDict = {"type": metric.get("type") or ""}
    for source, fields in sources.items():
        if metric.get(source) is None:
            continue
        result[source] = {}
        for field in fields:
            value = _at(metric[source], field.place)
            if value is not None or field.zero is not None:
                result[source][field.name] = field.zero if value is None else _in_order(value)
    return result


def _in_order(value: Json) -> Json:
    """Labels are written in order, as Go writes a map."""
    if isinstance(value, dict) and value.get("matchLabels"):
        return {**value, "matchLabels": dict(sorted(value["matchLabels"].items()))}
    return value


def _in_v2(metric: JsonObject, sources: Mapping[str, tuple[_Field, ...]]) -> JsonDict:
    named = dict(_named(metric, ("type", *sources)))
    result: JsonDict = {"type": named.get("type", "")}
    for source, fields in sources.items():
        if source not in named:
            continue
        data = dict(_named(named[source], [field.name for field in fields]))
        result[source] = {}
        for field in fields:
            value = data.get(field.name, field.zero)
            if value is not None:
                _put(result[source], field.place, value)
    return result


def _with_targets(metric: JsonDict) -> JsonDict:
    for source in SOURCES.keys() & metric.keys():
        metric[source]["target"] = _target(source, metric[source].get("target") or {})
    return metric


def _target(source: str, target: JsonObject) -> JsonDict:
    """Return what v2 says of a target besides v1: of which type it is. An average that is asked of
    an object takes the place of the value, which v1 cannot leave out."""
    kind, left = "AverageValue", dict(target)
    if source == "object" and "averageValue" in target and target.get("value") in ("0", 0):
        del left["value"]
    if (source == "object" and "averageValue" not in target) or (
        source == "external" and "value" in target
    ):
        kind = "Value"
    elif "averageUtilization" in target:
        kind = "Utilization"
    return {**left, "type": kind}


def _at(value: Any, place: Iterable[str]) -> Json:  # noqa: ANN401 - any JSON
    for step in place:
        value = (value or {}).get(step)
    result: Json = value
    return result


def _put(obj: JsonDict, place: tuple[str, ...], value: Json) -> None:
    for step in place[:-1]:
        obj = obj.setdefault(step, {})
    obj[place[-1]] = value


def _cpu_target(metric: JsonObject) -> Json:
    return _of_cpu(metric, _TARGET[2])


def _cpu_usage(metric: JsonObject) -> Json:
    return _of_cpu(metric, _NOW[2])


def _of_cpu(metric: JsonObject, place: tuple[str, ...]) -> Json:
    resource = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    return _at(resource, place)


_ALWAYS_SAID: Final = ("type", "status")
_SAID: Final = ("reason", "message")


def _condition(condition: JsonObject) -> JsonDict:
    fields = {field: condition.get(field) or "" for field in _ALWAYS_SAID}
    more = {field: condition[field] for field in _SAID if condition.get(field)}
    return {**fields, "lastTransitionTime": condition.get("lastTransitionTime"), **more}


# --- Behavior ----------------------------------------------------------------
#
# It travels as it is inside of an API server: fields have their names in Go, and none is left out.

_DIRECTIONS: Final = ("scaleUp", "scaleDown")
_RULES: Final = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
_POLICY: Final[Mapping[str, Json]] = {"type": "", "value": 0, "periodSeconds": 0}


def _inside(behavior: JsonObject) -> JsonDict:
    return {_go_name(name): _rules_inside(behavior.get(name)) for name in _DIRECTIONS}


def _rules_inside(rules: JsonObject | None) -> JsonDict | None:
    if rules is None:
        return None
    known = _RULES if is_since(_TOLERANCE_SINCE) else _RULES[:-1]
    result = {_go_name(name): rules.get(name) for name in known}
    if rules.get("policies") is not None:
        result["Policies"] = [
            {_go_name(name): policy.get(name, zero) for name, zero in _POLICY.items()}
            for policy in rules["policies"]
        ]
    return result


def _outside(behavior: JsonObject) -> JsonDict:
    """Go reads names of members in any case, and leaves out what is null when it writes v2."""
    named = dict(_named(behavior, _DIRECTIONS))
    result: JsonDict = {}
    for direction, member in named.items():
        rules = dict(_named(member, _RULES))
        if "policies" in rules:
            rules["policies"] = [
                {**_POLICY, **dict(_named(policy or {}, _POLICY))} for policy in rules["policies"]
            ]
        result[direction] = rules
    return result


def _named(data: JsonObject, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    spellings = {name.lower(): name for name in names}
    for key, value in data.items():
        name = spellings.get(key.lower())
        if name is not None and value is not None:
            yield name, value


def _go_name(name: str) -> str:
    return name[0].upper() + name[1:]


# --- Annotations -------------------------------------------------------------


def _annotated(obj: JsonObject, texts: Mapping[str, str]) -> JsonObject:
    data = {key: value for key, value in metadata.metadata(obj).items() if key != "annotations"}
    pairs = metadata.annotations(obj).items()
    gone = _TRAVELLING | _TOLERANCES if is_since(_TOLERANCE_SINCE) else _TRAVELLING
    annotations = {**{key: text for key, text in pairs if key not in gone}, **texts}
    if not annotations:
        return data
    data["annotations"] = dict(sorted(annotations.items()))
    return ordered_message(data, "meta.v1.ObjectMeta")


_LISTS: Final[Mapping[str, tuple[tuple[str, str], str, Callable[[JsonObject], JsonDict]]]] = {
    METRICS: (("spec", "metrics"), "autoscaling.v2.MetricSpec", partial(_in_v2, sources=SOURCES)),
    CURRENT_METRICS: (
        ("status", "currentMetrics"),
        "autoscaling.v2.MetricStatus",
        partial(_in_v2, sources=STATUSES),
    ),
    CONDITIONS: (
        ("status", "conditions"),
        "autoscaling.v2.HorizontalPodAutoscalerCondition",
        lambda value: dict(_named(value, (*_ALWAYS_SAID, *_SAID, "lastTransitionTime"))),
    ),
}
"""The annotations with lists: where v2 has them, of what type, and what makes a member one of
v2."""


def _listed(notes: Mapping[str, str], name: str) -> list[Any] | None:
    """Return the objects in an annotation, as v2 has them; None where it is not there, or says
    something else."""
    place, message, change = _LISTS[name]
    text = notes.get(name)
    metrics = None if text is None else _read(text, place, partial(_each, change=change))
    if metrics is None:
        return None
    if name == METRICS:
        metrics = [_with_targets(metric) for metric in metrics]
    return [ordered_message(metric, message) for metric in metrics]


def _each(members: Any, change: Callable[[JsonObject], JsonDict]) -> list[JsonDict]:  # noqa: ANN401
    """Null is an empty list for Go, and as a member, an empty object."""
    if not isinstance(members, list | None):
        raise TypeError(members)
    return [change({} if member is None else member) for member in members or ()]


def _read(text: str, place: tuple[str, str], change: Callable[[Any], Json]) -> Any:  # noqa: ANN401
    """Return what an annotation says, made what v2 has in a place of an autoscaler; None where
    that has not the types of that place, for which Go would not read it."""
    above, field = place
    try:
        read = decode(codec := _v2(), {above: {field: change(json.loads(text))}})
    except (ValueError, RecursionError, AttributeError, TypeError, DecodeError):
        return None
    codec.complete(read)
    return read.get(above, {}).get(field)


def _v2() -> StructCodec:
    codec = codec_for(GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"))
    assert codec is not None
    return codec


def _part(obj: JsonObject, name: str) -> JsonDict:
    """Return a copy to change. TypeError for what is no object."""
    part = obj.get(name) or {}
    if not isinstance(part, dict):
        raise TypeError(name)
    return dict(part)
