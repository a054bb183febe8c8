"""What is known of a policy of the library once it is read: its params and its costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.admission.lint import Settings, policy_costs
from celadon.cel import Environment
from celadon.cel.syntax import ListLiteral, Literal, walk
from celadon.cli.library.shelf import LibraryPolicy
from celadon.goyaml import read_yaml
from celadon.kube import JsonObject
from celadon.kube.library import RUNTIME_COST_BUDGET

OBJECT_SIZE: Final = Settings("").large_object
"""How large the object is of which costs are told, in bytes of JSON."""


def params(policy: LibraryPolicy) -> dict[str, str]:
    """Return the expressions of the params by name: the variables that are constants."""
    return {
        str(variable["name"]): " ".join(str(variable["expression"]).split())
        for document in _documents(policy)
        for variable in document["spec"].get("variables") or ()
        if _is_constant(str(variable["expression"]))
    }


def _documents(policy: LibraryPolicy) -> list[JsonObject]:
    return [document for _, document in read_yaml(policy.policy_text)]


def _is_constant(expression: str) -> bool:
    tree, _ = Environment().parse(expression)
    return tree is not None and all(
        isinstance(node, Literal | ListLiteral) for node in walk(tree.root)
    )


def worst_cost(policy: LibraryPolicy, version: str) -> int:
    """Return what a request about an object of `OBJECT_SIZE` may cost at most; an API server stops
    at `RUNTIME_COST_BUDGET`."""
    (cost,) = policy_costs(_documents(policy), Settings(version))
    return int(cost)


def facts(policy: LibraryPolicy, version: str) -> JsonObject:
    """Return all of it as JSON. The cost is that of a release."""
    return {
        "name": policy.name,
        "title": policy.title,
        "topics": list(policy.topics),
        "since": policy.since,
        "params": params(policy),
        "setFirst": list(policy.own),
        "worstCost": worst_cost(policy, version),
        "page": policy.page,
        "policy": policy.policy_text,
    }


def fact_lines(policy: LibraryPolicy, version: str) -> Iterator[str]:
    """Topics, releases, costs and params in a line each."""
    yield f"topics: {', '.join(policy.topics)}"
    yield f"releases: Kubernetes {policy.since} and later"
    yield (
        f"cost: at most {worst_cost(policy, version):,} of {RUNTIME_COST_BUDGET:,}"
        f" for an object of {OBJECT_SIZE // 1024} KiB"
    )
    for name, value in params(policy).items():
        first = "; set it first" if name in policy.own else ""
        yield f"param `{name}`: {value}{first}"
