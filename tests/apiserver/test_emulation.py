"""A server that emulates an older release says what its own does, and has what the other has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.runtime_config import effective_version
from celadon.kube.json_types import JsonObject
from tests.apiserver.asking import ask, read, said
from tests.apiserver.in_process import Running

PODS = "/api/v1/namespaces/default/pods?fieldValidation=Strict&dryRun=All"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All"
LABELLED = {"metadata": {"name": "a", "labels": {"a" * 64: ""}}}


def pod(**spec: object) -> JsonObject:
    return {
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


def policy(expression: str) -> JsonObject:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*"]}
    return {
        "metadata": {"name": "a"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression}],
        },
    }


def started(version: str, emulated: str = "") -> Running:
    effective = effective_version(version, [emulated] if emulated else [])
    return Running(Settings(version=version, all_versions=True, effective=effective))


@pytest.fixture(scope="module")
def emulating() -> Iterator[Running]:
    running = started("1.36", "1.33")
    yield running
    running.close()


@pytest.fixture(scope="module")
def older() -> Iterator[Running]:
    running = started("1.33")
    yield running
    running.close()


def test_texts_are_those_of_the_server(emulating: Running, older: Running) -> None:
    maps = "/api/v1/namespaces/default/configmaps"
    assert "no more than 63 bytes" in said(ask(emulating, "POST", maps, LABELLED))[1]
    assert "no more than 63 characters" in said(ask(older, "POST", maps, LABELLED))[1]


def test_fields_are_known_and_their_gates_are_off(emulating: Running, older: Running) -> None:
    named = pod(hostnameOverride="b")
    made = read(ask(emulating, "POST", PODS, named))
    assert "hostnameOverride" not in made["spec"]
    assert 'unknown field "spec.hostnameOverride"' in said(ask(older, "POST", PODS, named))[1]


def test_kinds_are_those_that_the_older_release_has(emulating: Running) -> None:
    groups = {one["name"]: one for one in read(ask(emulating, "GET", "/apis"))["groups"]}
    versions = [one["version"] for one in groups["resource.k8s.io"]["versions"]]
    assert versions == ["v1beta2", "v1beta1", "v1alpha3"]
    assert groups["resource.k8s.io"]["preferredVersion"]["version"] == "v1beta2"
    assert said(ask(emulating, "GET", "/apis/resource.k8s.io/v1"))[0] == 404
    assert said(ask(emulating, "GET", "/apis/admissionregistration.k8s.io/v1beta1"))[0] == 404


@pytest.mark.parametrize(
    ("expression", "refused"),
    [("[1].sort() == [1]", True), ("semver('1.0.0').major() == 1", False)],
)
def test_new_expressions_use_what_both_know(
    emulating: Running, expression: str, *, refused: bool
) -> None:
    code, text = said(ask(emulating, "POST", POLICIES, policy(expression)))
    assert code == (422 if refused else 201)
    assert ("undeclared reference to 'sort'" in text) == refused
    readable = policy("`a` == 1")
    assert "mismatched input '`a`'" in said(ask(emulating, "POST", POLICIES, readable))[1]


def test_what_it_says_of_itself(emulating: Running) -> None:
    version = read(ask(emulating, "GET", "/version"))
    assert (version["minor"], version["emulationMinor"]) == ("36", "33")
