"""The `context` of a rule of Kyverno: values that it names, of its own, of the request, and of its
namespace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.migrate.kyverno.conditions import operand
from celadon.migrate.kyverno.jmespath_expressions import read, read_in
from celadon.migrate.kyverno.jmespath_queries import Located, Names, Otherwise, Query
from celadon.migrate.kyverno.policies import OWN_NAMESPACE
from celadon.migrate.schema_fields import object_place
from celadon.migrate.translations import NotTranslated


def with_context(context: Sequence[JsonObject], names: Names) -> Names:
    """Return what a rule, or an entry of its `foreach`, sees with its variables. Raises
    NotTranslated where values are looked up."""
    for entry in context:
        variable, call = entry.get("variable"), entry.get("apiCall")
        if isinstance(variable, Mapping):
            query = _of_variable(variable, names)
        elif isinstance(call, Mapping) and _is_of_own_namespace(call):
            query = read_in(str(call.get("jmesPath") or ""), _NAMESPACE, names)
            variable = call
        else:
            kinds = ("configMap", "apiCall", "imageRegistry", "globalReference", "variable")
            kind = next((kind for kind in kinds if kind in entry), "context")
            raise NotTranslated(f"values that are looked up (`{kind}`)", _LOOKED_UP.get(kind, ""))
        if "default" in variable:
            query = Otherwise(query, operand(variable["default"], names))
        names = Names({**names.members, str(entry["name"]): query})
    return names


def _of_variable(variable: JsonObject, names: Names) -> Query:
    """Return what a variable of a context is: a value, what is read of it, or of the request."""
    path = str(variable.get("jmesPath") or "")
    if "value" not in variable:
        return read(path, names)
    return read_in(path, _given(variable["value"], names), names)


def _given(value: Json, names: Names) -> Query:
    if isinstance(value, Mapping) and "{{" in json.dumps(value):
        return Names({name: _given(value, names) for name, value in value.items()})
    return operand(value, names)


def _is_of_own_namespace(call: JsonObject) -> bool:
    """Return whether a call of the API reads the namespace of the request."""
    path = str(call.get("urlPath"))
    start, _, name = path.rpartition("/")
    is_plain = not set(call) - {"urlPath", "jmesPath", "method", "default"}
    return (
        start == "/api/v1/namespaces"
        and OWN_NAMESPACE.fullmatch(name) is not None
        and is_plain
        and call.get("method", "GET") == "GET"
    )


_NAMESPACE: Final = Located(
    object_place([GroupVersionKind("", "v1", "Namespace")], "namespaceObject")
)

_LOOKED_UP: Final = {
    "apiCall": "Policies see the request, its namespace and params, and no other objects.",
    "configMap": "Write its values into the policy, or bind it as params (`paramKind`).",
    "globalReference": "Give the values as params of the policy (`paramKind`).",
    "imageRegistry": "Keep it in Kyverno: the API server asks no registries.",
}
