"""Makes the bindings of a rule: their actions, their namespaces, and their params.

Kyverno takes the first of `failureActionOverrides` whose namespaces and selector fit a namespace.
Bindings all count, so each is for the namespaces that none before it is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.selectors import OPPOSITE_OPERATORS
from celadon.kube.well_known_values import NAMESPACE_NAME
from celadon.migrate.kyverno.match_and_exclude import Matching
from celadon.migrate.kyverno.patterns import has_wildcards
from celadon.migrate.kyverno.policies import OWN_NAMESPACE, Policy, Rule
from celadon.migrate.translations import NotTranslated, binding_document

_ACTIONS: Final = {
    "enforce": ("Deny",),
    # `Audit` of Kyverno leaves a report where no policy refuses. There are no reports here, so it
    # is a warning and an audit annotation.
    "audit": ("Warn", "Audit"),
}
_INSTEAD: Final = "Bind the policy for each action, with selectors of namespaces."


def bindings(
    document: JsonObject, policy: Policy, rule: Rule, matched: Matching
) -> Iterator[JsonObject]:
    """Yield the bindings of a policy that a rule has become. Raises NotTranslated."""
    usual = "enforce" if policy.enforces(rule) else "audit"
    params = param_ref(rule)
    choices = _choices(policy.overrides(rule), usual)
    if choices and not all(
        rule.has_namespace and rule.resource != "namespaces" for rule in matched.rules
    ):
        # A binding's selector of namespaces takes objects that are in none.
        raise NotTranslated("other actions in some namespaces, of objects that are in none")
    before: list[JsonObject] = []
    actions: list[str] = []
    for action, requirements in choices:
        actions.append(action)
        count = actions.count(action)
        suffix = action if count == 1 else f"{action}-{count}"
        selected = [*requirements, *before]
        yield binding_document(document, _ACTIONS[action], params, selected, suffix)
        before.append(_opposite(requirements))
    yield binding_document(document, _ACTIONS[usual], params, before)


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """A ConfigMap that a rule reads."""

    variable: str
    name: str
    namespace: str
    """Empty for that of the request."""
    path: str = ""
    """What is read of it: an expression, or empty for all."""


def config_map(rule: Rule) -> ConfigMap | None:
    """Return the ConfigMap that a rule reads, which is its policy's params; None where it reads
    none. Raises NotTranslated."""
    config_maps = [*filter(None, map(_config_map_of, rule.context))]
    if not config_maps:
        return None
    if len(config_maps) > 1:
        raise NotTranslated("several ConfigMaps", "A policy has one kind of params: join them.")
    if "{{" in config_maps[0].name + config_maps[0].namespace:
        raise NotTranslated(
            "a ConfigMap whose name is a variable",
            "Bind ConfigMaps by labels (`paramRef.selector`), or make one binding for each.",
        )
    return config_maps[0]


def _config_map_of(entry: JsonObject) -> ConfigMap | None:
    """Return the ConfigMap that an entry of a context reads, by its name or by a call of the API;
    None of another entry."""
    value, call, variable = entry.get("configMap"), entry.get("apiCall"), str(entry["name"])
    if isinstance(value, Mapping) and not set(value) - {"name", "namespace"}:
        namespace = str(value.get("namespace") or "default")
        return ConfigMap(variable, str(value.get("name")), _shortened(namespace))
    if isinstance(call, Mapping) and not set(call) - {"urlPath", "jmesPath", "method"}:
        named = _OF_CONFIG_MAP.fullmatch(str(call.get("urlPath")))
        if named and call.get("method", "GET") == "GET":
            path = str(call.get("jmesPath") or "")
            return ConfigMap(variable, named[2], _shortened(named[1]), path)
    return None


def _shortened(namespace: str) -> str:
    """Return a namespace; empty where it is that of the request, which params are looked for in."""
    return "" if OWN_NAMESPACE.fullmatch(namespace) else namespace


_OF_CONFIG_MAP: Final = re.compile(r"/api/v1/namespaces/([^/]+)/configmaps/([^/]+)", re.ASCII)


def param_ref(rule: Rule) -> JsonObject | None:
    """Return the params of the bindings of a rule."""
    value = ((rule.value.get("validate") or {}).get("cel") or {}).get("paramRef")
    if isinstance(value, Mapping):
        return value
    reference = config_map(rule)
    if reference is None:
        return None
    # A rule whose ConfigMap is not there fails in Kyverno.
    namespace = {"namespace": reference.namespace} if reference.namespace else {}
    return {"name": reference.name, **namespace, "parameterNotFoundAction": "Deny"}


def _choices(overrides: Sequence[JsonObject], usual: str) -> list[tuple[str, list[JsonObject]]]:
    """Return actions that are not the usual one, or come before such, each with what the labels of
    a namespace must be."""
    valid = [override for override in overrides if str(override.get("action")).lower() in _ACTIONS]
    while valid and str(valid[-1]["action"]).lower() == usual:
        valid.pop()
    return [(str(item["action"]).lower(), _requirements(item)) for item in valid]


def _requirements(override: JsonObject) -> list[JsonObject]:
    names = list(override.get("namespaces") or ())
    selector = override.get("namespaceSelector") or {}
    labels = selector.get("matchLabels") or {}
    result: list[JsonObject] = [
        *([{"key": NAMESPACE_NAME, "operator": "In", "values": names}] if names else ()),
        *({"key": key, "operator": "In", "values": [label]} for key, label in labels.items()),
        *(selector.get("matchExpressions") or ()),
    ]
    if any(has_wildcards(str(text)) for item in result for text in item.get("values") or ()):
        raise NotTranslated("other actions in namespaces that are named by wildcards", _INSTEAD)
    return result


def _opposite(requirements: Sequence[JsonObject]) -> JsonObject:
    if len(requirements) != 1:
        raise NotTranslated(
            "other actions in namespaces of which several things are asked", _INSTEAD
        )
    (value,) = requirements
    return {**value, "operator": OPPOSITE_OPERATORS[value["operator"]]}
