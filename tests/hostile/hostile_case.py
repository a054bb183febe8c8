"""A hostile input: a command, its files, and what may come of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

OK: Final = 0
DENIED: Final = 1
UNREADABLE: Final = 2
BROKEN: Final = 3
"""A policy, or an expression, that fails."""

MOST_SECONDS: Final = 5.0
"""Of the processor, on the machine that the benchmarks are measured by."""
MOST_MEGABYTES: Final = 500
_DEEP: Final = 20_000
MOST_BYTES: Final = 1_000_000
"""Of all files of a case together."""

Content = Callable[[], str | bytes]


@dataclass(frozen=True, slots=True)
class HostileCase:
    """`arguments` are those of `celadon`, `files` are made when the case is run. Any code of
    `exits` will do: what counts is that there is an answer, and which kind."""

    name: str
    arguments: tuple[str, ...]
    files: Mapping[str, Content] = field(default_factory=dict)
    exits: frozenset[int] = frozenset({OK})
    stdin: str = ""
    seconds: float = MOST_SECONDS
    megabytes: int = MOST_MEGABYTES

    def contents(self) -> dict[str, bytes]:
        """The files by name."""
        made = {name: make() for name, make in self.files.items()}
        return {n: c if isinstance(c, bytes) else c.encode() for n, c in made.items()}


def texts(*documents: Any) -> str:
    """Objects as the documents of one JSON stream. They may be nested deeply."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEP)
    try:
        return "\n".join(map(json.dumps, documents))
    finally:
        sys.setrecursionlimit(limit)


CONFIG_MAP: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "default"},
    "data": {"a": "b"},
}

_GROUP: Final = "admissionregistration.k8s.io/v1"
_EVERYTHING: Final = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["*"],
}


def policy(*expressions: str, variables: Mapping[str, str] | None = None, **spec: Any) -> str:
    """A policy about everything, and its binding."""
    made: dict[str, Any] = {
        "matchConstraints": {"resourceRules": [_EVERYTHING]},
        "validations": [{"expression": text} for text in expressions],
        **spec,
    }
    if variables:
        made["variables"] = [{"name": n, "expression": e} for n, e in variables.items()]
    return texts(
        {
            "apiVersion": _GROUP,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "p"},
            "spec": made,
        },
        {
            "apiVersion": _GROUP,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "b"},
            "spec": {"policyName": "p", "validationActions": ["Deny"]},
        },
    )


def judged(name: str, rules: Content, *exits: int, manifest: Content | None = None) -> HostileCase:
    """`celadon check` of a manifest, a ConfigMap if none is given, by these policies."""
    files = {"rules.json": rules, "object.json": manifest or (lambda: texts(CONFIG_MAP))}
    arguments = ("check", "-f", "rules.json", "object.json")
    return HostileCase(name, arguments, files, frozenset(exits or {OK}))


def linted(name: str, rules: Content, *exits: int) -> HostileCase:
    """`celadon lint` of these policies."""
    return HostileCase(
        name, ("lint", "rules.json"), {"rules.json": rules}, frozenset(exits or {OK, DENIED})
    )


def read(name: str, content: Content, *exits: int, suffix: str = "yaml") -> HostileCase:
    """`celadon check` of one file, by a policy that looks at all of it."""
    file = f"object.{suffix}"
    files = {"rules.json": lambda: policy("object == object"), file: content}
    return HostileCase(name, ("check", "-f", "rules.json", file), files, frozenset(exits or {OK}))


def evaluated(name: str, expression: Content, *exits: int, **values: Content) -> HostileCase:
    """`celadon eval` of an expression from standard input; `values` are the files of `object` and
    its like."""
    files = {f"{option}.json": content for option, content in values.items()}
    given = tuple(
        word for option in values for word in (f"--{option.replace('_', '-')}", f"{option}.json")
    )
    made = expression()
    text = made if isinstance(made, str) else made.decode()
    return HostileCase(name, ("eval", "-", *given), files, frozenset(exits or {OK}), stdin=text)
