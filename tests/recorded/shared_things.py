"""Which scenarios touch what all share: users, and what is in no namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from celadon.kube.resources import known_resources

_WITHOUT_NAMESPACE: Final = frozenset(
    one.gvr.resource for one in known_resources() if not one.namespaced
)
_ADMINISTRATOR: Final = "admin"
_DEFAULT_CLASS: Final = "kubernetes.io/is-default-class"
"""How the annotations end that make a class of ingresses or storage the default."""


def touches_what_is_shared(scenario: Any) -> bool:
    """Whether somebody else than the administrator asks or is given rights, a policy is about
    objects that are in no namespace, or a class is made that others get by default."""
    return any(_is_shared(part) for part in _parts(scenario))


def _is_shared(part: dict[str, Any]) -> bool:
    if part.get("user", _ADMINISTRATOR) != _ADMINISTRATOR or "subjects" in part:
        return True
    if any(str(key).endswith(_DEFAULT_CLASS) for key in part):
        return True
    rules = part.get("resourceRules")
    return isinstance(rules, list) and any(_reaches_the_cluster(rule) for rule in rules)


def _reaches_the_cluster(rule: Any) -> bool:
    given = rule.get("resources") if isinstance(rule, dict) else None
    named = {str(one).partition("/")[0] for one in given or ()}
    return "*" in named or not named.isdisjoint(_WITHOUT_NAMESPACE)


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        yield value
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    for one in inner:
        yield from _parts(one)
