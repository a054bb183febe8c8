"""Labels of nodes that have been replaced, where selectors still ask for them.

As k8s.io/kubernetes `pkg/api/node/util.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.kube import name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject

DEPRECATED: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
}
"""What is said of each."""


def deprecated_key(path: FieldPath, key: str) -> Iterator[str]:
    """Of a field whose value is the name of a label."""
    if key in DEPRECATED:
        yield f"{path}: {key} is {DEPRECATED[key]}"


def term_warnings(
    term: JsonObject, path: FieldPath, *, check_values: bool = False
) -> Iterator[str]:
    """Of a NodeSelectorTerm; with `check_values`, also of values that no label can have."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        at = path.child("matchExpressions").index(index)
        yield from deprecated_key(at.child("key"), expression.get("key", ""))
        if not check_values:
            continue
        for number, value in enumerate(expression.get("values") or ()):
            for why in name_rules.label_value(value):
                yield f"{at.child('values').index(number)}: {value} is invalid, {why}"


def selector_warnings(selector: JsonObject | None, path: FieldPath) -> Iterator[str]:
    """Of a LabelSelector that chooses nodes."""
    if selector is None:
        return
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        at = path.child("matchExpressions").index(index)
        yield from deprecated_key(at.child("key"), expression.get("key", ""))
    for key in sorted(selector.get("matchLabels") or ()):
        if key in DEPRECATED:
            yield f"{path.child('matchLabels').child(key)}: {DEPRECATED[key]}"
