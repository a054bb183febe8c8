"""Defaulting of policies and bindings.

Only what is absent is filled in; an explicitly empty text stays and is refused by validation.
`matchConstraints` and `matchResources` themselves are never created. The functions work on the
decoder's own document and change it in place.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.admission.registration.types import DENY, EQUIVALENT, FAIL

ALL_SCOPES: Final = "*"


def default_policy(document: dict[str, Any]) -> None:
    """The same in all versions."""
    spec = document["spec"]
    spec.setdefault("failurePolicy", FAIL)
    if "matchConstraints" in spec:
        _default_match_resources(spec["matchConstraints"])


def default_binding(document: dict[str, Any], version: str) -> None:
    """`version` is that of the document: v1alpha1 has a default that the others have not."""
    spec = document["spec"]
    if "matchResources" in spec:
        _default_match_resources(spec["matchResources"])
    if version == "v1alpha1" and "paramRef" in spec:
        spec["paramRef"].setdefault("parameterNotFoundAction", DENY)


def _default_match_resources(match: dict[str, Any]) -> None:
    match.setdefault("matchPolicy", EQUIVALENT)
    match.setdefault("namespaceSelector", {})
    match.setdefault("objectSelector", {})
    for rules in ("resourceRules", "excludeResourceRules"):
        for rule in match.get(rules, ()):
            rule.setdefault("scope", ALL_SCOPES)
