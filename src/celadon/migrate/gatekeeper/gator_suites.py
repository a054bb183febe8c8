"""Suites of gator (`test.gatekeeper.sh`), run against the translation.

A case has an object, or an AdmissionReview around one, and says whether there are violations.
Gatekeeper counts them, one for each container; a policy refuses a request once, with one message.
So a number above zero means that it is refused, and a pattern for messages must be found in the
message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission import Action, Engine, ObjectWorld, Operation, decode_binding, decode_policy
from celadon.admission.registration import BINDING_KIND, POLICY_KIND
from celadon.kube import JsonObject, User, metadata
from celadon.kube.json_types import Needed, Shape
from celadon.kube.resources import Catalog
from celadon.migrate.judging import namespace_with, request_for

GATOR_SHAPE: Final[Shape] = {
    "tests": Needed(
        [
            {
                "name": str,
                "template": Needed(str),
                "constraint": Needed(str),
                "skip": bool,
                "cases": [
                    {
                        "name": str,
                        "object": Needed(str),
                        "inventory": [str],
                        "skip": bool,
                        "assertions": [{"violations": (bool, str, int), "message": str}],
                    }
                ],
            }
        ]
    ),
}
"""What a suite must look like."""


def is_suite(value: object) -> bool:
    """Return whether a document is a suite of gator."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "Suite"
        and str(value.get("apiVersion", "")).startswith("test.gatekeeper.sh/")
    )


@dataclass(frozen=True, slots=True)
class GatorCase:
    """What a constraint is to say of an object."""

    name: str
    object: JsonObject
    inventory: tuple[JsonObject, ...]
    assertions: tuple[JsonObject, ...]


def disagreement(
    case: GatorCase, documents: Sequence[JsonObject], catalog: Catalog
) -> tuple[str, str, str]:
    """Return what a case expects and what its translation says instead, with its message: what is
    found is empty where all is as expected."""
    messages = tuple(_messages(case, documents, catalog))
    for one in case.assertions or ({},):
        pattern = str(one.get("message") or "")
        is_found = any(re.search(pattern, text) for text in messages)
        if is_found != _wants(one.get("violations")):
            expected = "no violation" if is_found else "a violation"
            if pattern:
                expected += f" with `{pattern}`"
            found = "violations" if messages else "no violation"
            return expected, found, "; ".join(messages)
    return "", "", ""


def _wants(violations: object) -> bool:
    """Return whether violations are expected: `yes`, `no`, a number, or `yes` by default."""
    if isinstance(violations, str):
        return violations.lower() not in ("no", "false", "0")
    return True if violations is None else bool(violations)


def _messages(case: GatorCase, documents: Sequence[JsonObject], catalog: Catalog) -> Iterator[str]:
    """Return the messages with which a translation refuses the object of a case."""
    review = case.object
    obj, old, operation, user = review, None, Operation.CREATE, User("kubernetes-admin")
    if review.get("kind") == "AdmissionReview":
        asked = review.get("request") or {}
        name = str(asked.get("operation"))
        operation = Operation[name] if name in Operation.__members__ else operation
        old = asked.get("oldObject")
        obj = asked.get("object") or old or {}
        given = asked.get("userInfo") or {}
        user = User(given.get("username") or user.name, tuple(given.get("groups") or ()))
    request = request_for(obj, operation, user, catalog, old, with_nulls=False)
    namespaces = [
        namespace_with(metadata.name(one), metadata.labels(one))
        for one in case.inventory
        if one.get("kind") == "Namespace"
    ]
    around = namespace_with(request.namespace or "default", {})
    others = [one for one in documents if one["kind"] not in (POLICY_KIND, BINDING_KIND)]
    world = ObjectWorld([around, *namespaces, *others])
    policies = [decode_policy(one).value for one in documents if one["kind"] == POLICY_KIND]
    bindings = [decode_binding(one).value for one in documents if one["kind"] == BINDING_KIND]
    for one in Engine(policies, bindings).explain(request, world).decisions:
        if one.action is Action.DENY:
            yield one.message
