"""Twenty policies of one expression each, deciding on one Deployment.

A review is everything between a request and its verdict: which policies match, what the
expressions say, what follows. Each request is a new one, as a server's are.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Final

from bench.expressions import CASES
from bench.load import binding, policy
from bench.measure import Call, side_by_side
from bench.objects import ACTIVATIONS
from celadon.admission import Engine, ObjectWorld, Operation, Request, decode_binding, decode_policy
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.resources import known_resources

POLICIES: Final = 20

_NAMESPACE: Final = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop"}},
}


def expressions() -> list[str]:
    """Twenty of the set, from all its parts, that hold for the Deployment or for its Pods."""
    found = [
        case.expression
        if case.kind == "Deployment"
        else case.expression.replace("object.spec.", "object.spec.template.spec.")
        for case in CASES
        if case.kind in ("Deployment", "Pod")
        and case.variables == ("object",)
        and case.by_hand(ACTIVATIONS[case.kind][0]["object"]) is True
    ]
    return [found[len(found) * number // POLICIES] for number in range(POLICIES)]


def request(size: int | None = None) -> Request:
    """The creation of the Deployment. `size` is that of the text it came in, as a server knows."""
    deployment = ACTIVATIONS["Deployment"][0]["object"]
    return Request(
        operation=Operation.CREATE,
        kind=GroupVersionKind("apps", "v1", "Deployment"),
        resource=GroupVersionResource("apps", "v1", "deployments"),
        name="shop-frontend",
        namespace="shop",
        object=deployment,
        size=size,
    )


def engine() -> Engine:
    """With every policy bound to everything."""
    names = [f"policy-{number:02}" for number in range(POLICIES)]
    return Engine(
        [
            decode_policy(policy(name, [expression])).value
            for name, expression in zip(names, expressions(), strict=True)
        ],
        [decode_binding(binding(name)).value for name in names],
    )


def review_seconds() -> tuple[float, float]:
    """One review that admits: of an object whose size in JSON is known, and of one of which it is
    not."""
    judge = engine()
    world = ObjectWorld([_NAMESPACE], catalog=known_resources())
    size = len(json.dumps(request().object))
    verdict = judge.review(request(size), world)
    if not verdict.allowed:
        raise ValueError(f"the Deployment is not admitted: {verdict}")
    timings = side_by_side(
        {
            "a request": Call(request, (size,)),
            "known": Call(lambda: judge.review(request(size), world)),
            "unknown": Call(lambda: judge.review(request(None), world)),
        }
    )
    own = min(timings.rounds["a request"])
    return min(timings.rounds["known"]) - own, min(timings.rounds["unknown"]) - own


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__).parse_args()
    known, unknown = review_seconds()
    sys.stdout.write(f"{known * 1e6:.1f} µs, {unknown * 1e6:.1f} µs with size unknown\n")


if __name__ == "__main__":
    main()
