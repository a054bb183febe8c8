"""From `paramRef` to objects, and the errors on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from celadon.admission import policy_limits
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.policies.params import (
    ParamError,
    ParamFinder,
    param_name,
    resolve,
    typed,
    untyped,
)
from celadon.admission.registration.registration_types import ParamKind, ParamRef
from celadon.kube import metadata
from celadon.kube.resources import known_resources

CATALOG = known_resources()
MAPS = resolve(ParamKind("v1", "ConfigMap"), CATALOG)
CLUSTER = resolve(ParamKind("v1", "Namespace"), CATALOG)


def config_map(name: str, namespace: str, **labels: str) -> dict[str, Any]:
    given = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": given}


WORLD = ObjectWorld(
    [
        config_map("b", "ns", tier="x"),
        config_map("a", "ns", tier="x"),
        config_map("c", "ns"),
        config_map("a", "other"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}},
    ]
)


def names(ref: ParamRef, namespace: str = "ns", source: Any = MAPS) -> list[str]:
    return [param_name(found) for found in ParamFinder(source, ref).collect(namespace, WORLD)]


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (ParamRef(name="a"), ["ns/a"]),
        (ParamRef(name="a", namespace="other"), ["other/a"]),
        (ParamRef(selector={}), ["ns/a", "ns/b", "ns/c"]),
        (ParamRef(selector={"matchLabels": {"tier": "x"}}), ["ns/a", "ns/b"]),
        (ParamRef(name="z", parameter_not_found_action="Allow"), []),
        (ParamRef(name="z"), []),
    ],
)
def test_what_is_found(ref: ParamRef, expected: list[str]) -> None:
    assert names(ref) == expected


def test_without_kind_or_ref_the_params_are_null() -> None:
    assert ParamFinder(None, ParamRef(name="a")).collect("ns", WORLD) == (None,)
    assert ParamFinder(MAPS, None).collect("ns", WORLD) == (None,)
    assert param_name(None) == ""


def test_cluster_scoped_params_ignore_the_request_namespace() -> None:
    assert names(ParamRef(name="ns"), "anywhere", CLUSTER) == ["ns"]


ERRORS: list[tuple[ParamRef, str, Any, str]] = [
    (
        ParamRef(name="a"),
        "",
        MAPS,
        "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
    ),
    (
        ParamRef(name="a", namespace="x"),
        "ns",
        CLUSTER,
        "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
    ),
    (
        ParamRef(name="a", selector={}),
        "ns",
        MAPS,
        "paramRef.name and paramRef.selector are mutually exclusive",
    ),
    (ParamRef(), "ns", MAPS, "one of name or selector must be provided"),
    (
        ParamRef(name="z", parameter_not_found_action="Deny"),
        "ns",
        MAPS,
        "no params found for policy binding with `Deny` parameterNotFoundAction",
    ),
]


@pytest.mark.parametrize(("ref", "namespace", "source", "text"), ERRORS)
def test_errors(ref: ParamRef, namespace: str, source: Any, text: str) -> None:
    with pytest.raises(ParamError) as caught:
        ParamFinder(source, ref).collect(namespace, WORLD)
    assert str(caught.value) == text


def test_an_unknown_kind_is_an_error_and_a_bad_version_none() -> None:
    with pytest.raises(ParamError) as caught:
        resolve(ParamKind("example.com/v1", "BadParamKind"), CATALOG)
    assert str(caught.value) == (
        "failed to find resource referenced by paramKind: 'example.com/v1, Kind=BadParamKind'"
    )
    with pytest.raises(ParamError, match="'/v2, Kind=ConfigMap'"):
        resolve(ParamKind("v2", "ConfigMap"), CATALOG)
    assert resolve(ParamKind("a/b/c", "K"), CATALOG) is None


@pytest.mark.parametrize(
    ("version", "kind", "error"),
    [
        ("v1", "Configmap", "failed to find resource"),
        ("v1", "configmapList", "failed to find resource"),
        ("a.io/v1", "List", "failed to find resource"),
        ("v1", "Binding", "not yet synced"),
        ("v1", "binding", "not yet synced"),
        ("v1", "ConfigMapList", "not yet synced"),
        ("apps/v1", "List", "not yet synced"),
        ("authentication.k8s.io/v1", "TokenReview", "not yet synced"),
    ],
)
def test_lists_and_reviews_are_kinds_that_never_have_params(
    version: str, kind: str, error: str
) -> None:
    shown = f"&ParamKind{{APIVersion:{version},Kind:{kind},}}"
    texts = {
        "failed to find resource": (
            "failed to find resource referenced by paramKind: "
            f"'{version if '/' in version else f'/{version}'}, Kind={kind}'"
        ),
        "not yet synced": f"paramKind kind `{shown}` not yet synced to use for admission",
    }
    with pytest.raises(ParamError) as caught:
        _collected(ParamKind(version, kind))
    assert str(caught.value) == texts[error]


def _collected(kind: ParamKind) -> Sequence[Any]:
    finder = ParamFinder(resolve(kind, CATALOG), ParamRef(name="a", namespace="x"))
    return finder.collect("ns", WORLD)


def test_a_built_in_kind_in_lower_case_is_shown_as_it_is_written() -> None:
    source = resolve(ParamKind("v1", "configmap"), CATALOG)
    (param,) = ParamFinder(source, ParamRef(name="a")).collect("ns", WORLD)
    assert param is not None
    assert typed(param, source) == {**param, "kind": "configmap"}


def test_params_have_their_type() -> None:
    (found,) = ParamFinder(MAPS, ParamRef(name="a")).collect("ns", WORLD)
    assert str(metadata.gvk(found)) == "/v1, Kind=ConfigMap"


def test_what_a_selector_takes_is_remembered_for_one_list() -> None:
    finder = ParamFinder(MAPS, ParamRef(selector={"matchLabels": {"tier": "x"}}))
    first = finder.collect("ns", WORLD)
    assert finder.collect("ns", WORLD) is first
    changed = WORLD.with_objects([config_map("c", "ns", tier="x")])
    assert [param_name(one) for one in finder.collect("ns", changed)] == ["ns/a", "ns/b", "ns/c"]
    assert finder.collect("other", WORLD) == ()


def test_selections_are_forgotten_when_there_are_too_many() -> None:
    finder = ParamFinder(MAPS, ParamRef(selector={}))
    first = finder.collect("ns", WORLD)
    for number in range(policy_limits.PARAM_SELECTION_ENTRIES):
        assert finder.collect(f"ns-{number}", WORLD) == ()
    again = finder.collect("ns", WORLD)
    assert again == first
    assert again is not first


@pytest.mark.parametrize(
    ("members", "added"),
    [
        ({}, True),
        ({"kind": "Other"}, True),
        ({"apiVersion": "v2"}, True),
        ({"apiVersion": "v2", "kind": "Other"}, False),
    ],
)
def test_stored_params_are_given_their_type(members: dict[str, Any], added: bool) -> None:
    param = {"data": {}, **members}
    of_kind = {"apiVersion": "v1", "kind": "ConfigMap", **param}
    assert typed(param, MAPS) == (of_kind if added else param)
    assert typed(param, None) is param
    assert typed(None, MAPS) is None


def test_only_custom_params_say_their_type_to_mutating_policies() -> None:
    param = config_map("a", "ns")
    assert MAPS is not None
    assert untyped(param, MAPS) == {"metadata": param["metadata"]}
    assert untyped(param, replace(MAPS, custom=True)) is param
    assert untyped(param, None) is param
    assert untyped(None, MAPS) is None
