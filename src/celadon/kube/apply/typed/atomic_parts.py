"""The parts of a configuration that are atomic: setting one would drop all that it does not say.

As k8s.io/apiserver `pkg/admission/plugin/policy/mutating/patch/smd.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celadon.kube.apply.typed.merge_types import MergeType


def atomic_parts(type_: MergeType, value: object, path: str = "") -> Iterator[str]:
    """Their paths, with the indices of items: `.spec.containers[0].args`. Those inside an atomic
    part too, but none of the values of a map that are not declared."""
    rule, list_rule = type_.map, type_.list
    if rule is not None and value.__class__ is dict:
        if rule.atomic:
            yield path
        members: Any = value
        for name, one in members.items():
            child = rule.child(name) if rule.declares(name) else None
            if child is not None:
                yield from atomic_parts(child, one, f"{path}.{name}")
    elif list_rule is not None and value.__class__ is list:
        if list_rule.atomic:
            yield path
        items: Any = value
        for i, item in enumerate(items):
            yield from atomic_parts(list_rule.item, item, f"{path}[{i}]")
