"""What keeps policies from being loaded from the files of an API server."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.static_manifests import is_static, static_errors
from tests.admission.building import binding, policy
from tests.admission.webhooks.hooking import configuration, webhook

NAME = "p.static.k8s.io"
GOOD = policy(NAME)
CASES: list[tuple[list[Any], list[str]]] = [
    ([GOOD, binding("b.static.k8s.io", NAME)], []),
    (
        [policy(NAME, paramKind={"apiVersion": "v1", "kind": "ConfigMap"})],
        [
            f'ValidatingAdmissionPolicy "{NAME}": spec.paramKind is not supported for static '
            "manifests"
        ],
    ),
    (
        [GOOD, binding("b.static.k8s.io", "p")],
        [
            'binding "b.static.k8s.io": spec.policyName "p" must end with ".static.k8s.io"',
        ],
    ),
    ([binding("b", "")], ['binding "b" must reference a policy (spec.policyName)']),
    (
        [GOOD, binding("b", NAME, paramRef={"name": "x", "parameterNotFoundAction": "Deny"})],
        ['binding "b": spec.paramRef is not supported for static manifests'],
    ),
    (
        [
            configuration(
                webhook("a.x.io", clientConfig={"service": {"namespace": "n", "name": "s"}}),
                webhook("b.x.io", clientConfig={}),
                webhook("c.x.io"),
                name="w.static.k8s.io",
            )
        ],
        [
            'webhook "a.x.io" in "w.static.k8s.io" (file "w.yaml"): clientConfig.service is not '
            "supported for static manifests; use clientConfig.url instead",
            'webhook "b.x.io" in "w.static.k8s.io" (file "w.yaml"): clientConfig.url is required '
            "for static manifests",
        ],
    ),
    (
        [binding("b", NAME)],
        [f'binding "b" references policy "{NAME}" which does not exist in the manifest directory'],
    ),
]


@pytest.mark.parametrize(("objects", "texts"), CASES)
def test_errors(objects: list[Any], texts: list[str]) -> None:
    assert [error.text for error in static_errors(objects, "w.yaml")] == texts


def test_only_names_with_the_suffix_are_for_files() -> None:
    assert is_static(GOOD)
    assert not is_static(policy("p"))


def test_where_the_mistakes_are() -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    ref = {"name": "x", "parameterNotFoundAction": "Deny"}
    objects: list[Any] = [GOOD, policy(NAME, paramKind=kind), binding("b", "", paramRef=ref)]
    objects.append(binding("c", "q.static.k8s.io"))
    assert [(error.number, str(error.path)) for error in static_errors(objects)] == [
        (1, "spec.paramKind"),
        (2, "spec.policyName"),
        (2, "spec.paramRef"),
        (3, "spec.policyName"),
    ]
