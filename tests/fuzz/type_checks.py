"""Random policies about kinds, for what the status controller of either server finds in them.

Expressions compile with any object, as the API asks, and many do not with that of the kinds that
the policy names: members that are not there, operators and functions for other types.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.resources import known_resources
from celadon.kube.schemas import schema_for
from celadon.kube.schemas.schema_packs import resolved
from tests.fuzz.policy_writes import GROUP
from tests.fuzz.servers import Server
from tests.fuzz.typed_expressions import pools
from tests.fuzz.writes import Difference

Json = Any
POLICIES: Final = f"{GROUP}/v1/validatingadmissionpolicies"
_BEYOND: Final = frozenset({"apiextensions.k8s.io", "apiregistration.k8s.io"})
"""Groups of other servers, whose kinds the controller reads elsewhere."""
KINDS: Final = tuple(
    (one.gvk, one.gvr.resource)
    for one in known_resources()
    if schema_for(one.gvk) is not None and one.gvr.group not in _BEYOND
)
POOLS: Final = pools("type_checks")
FORMS: Final = POOLS["forms"]
_PARAMS: Final = (
    ("v1", "ConfigMap"),
    ("apps/v1", "Deployment"),
    ("a.io/v1", "Nothing"),
    ("v1", "Pod"),
)


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many policies, forty at a time."""
    for first in range(seed, seed + count, 40):
        policies = [policy(number) for number in range(first, min(first + 40, seed + count))]
        paths = [f"{POLICIES}/{one['metadata']['name']}" for one in policies]
        told = []
        for server in (ours, real):
            made = [server.call("POST", POLICIES, one).code for one in policies]
            server.settle()
            told.append(
                [
                    _found(server, path) if code == 201 else str(code)
                    for path, code in zip(paths, made, strict=True)
                ]
            )
            for path in paths:
                server.call("DELETE", path)
        for one, path, own, other in zip(policies, paths, *told, strict=True):
            differs = own != other
            yield Difference("GET", path, json.dumps(one), own, other) if differs else None


def _found(server: Server, path: str) -> str:
    """A status, as soon as it is there, without the numbers in names of types."""
    status: Json = {}
    for _ in range(100):
        status = server.call("GET", path).body.get("status", {})
        if status.get("typeChecking") is not None:
            break
        server.settle()
    return re.sub(r"([A-Z][A-Za-z]+)\d+", r"\1N", json.dumps([200, status, []], sort_keys=True))


def policy(seed: int) -> Json:
    """A policy about one to four kinds."""
    random = Random(seed)
    kinds = random.sample(KINDS, random.choice((1, 1, 1, 2, 4)))
    expressions = _Expressions(random, [kind for kind, _ in kinds])
    spec: Json = {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [kind.group if random.random() < 0.95 else "*"],
                    "apiVersions": [kind.version],
                    "operations": ["CREATE"],
                    "resources": [resource if random.random() < 0.9 else f"{resource}/status"],
                }
                for kind, resource in kinds
            ]
        },
        "variables": [
            {"name": name, "expression": expressions.operand()}
            for name in "abc"[: random.randrange(4)]
        ],
        "validations": [
            {"expression": f"dyn({one})" if random.random() < 0.1 else one}
            for one in expressions.tests()
        ],
    }
    for one in spec["validations"]:
        if random.random() < 0.3:
            one["messageExpression"] = f"string({expressions.operand()})"
    if random.random() < 0.4:
        version, kind = random.choice(_PARAMS)
        spec["paramKind"] = {"apiVersion": version, "kind": kind}
    name = {"name": f"types-{seed}"}
    return {
        "apiVersion": GROUP[6:] + "/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": name,
        "spec": spec,
    }


class _Expressions:
    def __init__(self, random: Random, kinds: list[GroupVersionKind]) -> None:
        self._random, self._kinds = random, kinds

    def tests(self) -> list[str]:
        forms = self._random.choices(FORMS, k=self._random.randrange(1, 6))
        return [form.format(self.operand(), self.operand()) for form in forms]

    def operand(self) -> str:
        """A value somewhere in an object of one of the kinds; a member is wrong now and then."""
        node = schema_for(self._random.choice(self._kinds))
        text = self._random.choice(("object", "object", "object", "oldObject"))
        for _ in range(self._random.randrange(1, 7)):
            if node is None or (node := resolved(node)) is None:
                break
            if node.properties:
                name = self._random.choice(sorted(node.properties))
                node = node.properties[name]
                name = "zz" if self._random.random() < 0.03 else name
                plain = re.fullmatch(r"[A-Za-z]\w*", name) and name not in (
                    "in",
                    "as",
                    "default",
                    "namespace",
                )
                text += f".{name}" if plain and self._random.random() < 0.95 else f"['{name}']"
            elif node.items is not None:
                node, text = node.items, text + "[0]"
            elif node.additional_properties is not None:
                node, text = node.additional_properties, text + self._random.choice((".a", "['a']"))
            else:
                break
        return text
