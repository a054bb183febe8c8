"""Tokens that are asked for: what they are bound to, how long they live, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.authn.signed_tokens import parse_token
from celadon.apiserver.handlers.reviews import TokenIssuer
from celadon.kube import StatusError
from tests.apiserver.authn.front_desk import NOW, SIGNER
from tests.apiserver.authn.test_service_account_tokens import NODE, POD, SECRET, named, world

AT = int(NOW.timestamp())
RUNNING = {**POD, "spec": {"serviceAccountName": "robot", "nodeName": "n"}}
HOMELESS = {**POD, "spec": {"serviceAccountName": "robot"}}
FOREIGN = {**POD, "spec": {"serviceAccountName": "other"}}


def ref(kind: str, name: str, uid: str = "", version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid}


def ask(
    spec: dict[str, Any], metadata: dict[str, Any] | None = None, **objects: Any
) -> dict[str, Any]:
    gates = objects.pop("without", ())
    issuer = TokenIssuer(
        "https://issuer", ("api",), SIGNER, world(**objects), lambda gate: gate not in gates
    )
    request = {"metadata": metadata or {}, "spec": {"expirationSeconds": 3600, **spec}}
    return issuer.issued(issuer.prepared(request, "ns", "robot", NOW), NOW, "j")[0]


def claims(answer: dict[str, Any]) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(parse_token(answer["status"]["token"]).payload)
    return claims


@pytest.mark.parametrize(
    ("spec", "objects", "private"),
    [
        ({}, {}, {}),
        (
            {"boundObjectRef": ref("Secret", "s", "s-uid")},
            {},
            {"secret": {"name": "s", "uid": "s-uid"}},
        ),
        ({"boundObjectRef": ref("Node", "n")}, {}, {"node": {"name": "n", "uid": "n-uid"}}),
        (
            {"boundObjectRef": ref("Pod", "p")},
            {"pods": RUNNING},
            {"pod": {"name": "p", "uid": "p-uid"}, "node": {"name": "n", "uid": "n-uid"}},
        ),
        (
            {"boundObjectRef": ref("Pod", "p")},
            {"pods": RUNNING, "nodes": None},
            {"pod": {"name": "p", "uid": "p-uid"}, "node": {"name": "n"}},
        ),
        (
            {"boundObjectRef": ref("Pod", "p")},
            {"pods": HOMELESS},
            {"pod": {"name": "p", "uid": "p-uid"}},
        ),
    ],
)
def test_what_it_is_bound_to(
    spec: dict[str, Any], objects: dict[str, Any], private: dict[str, Any]
) -> None:
    found = claims(ask(spec, **objects))["kubernetes.io"]
    account = {"namespace": "ns", "serviceaccount": {"name": "robot", "uid": "a-uid"}}
    assert found == account | private


@pytest.mark.parametrize(
    ("spec", "seconds", "warn_after"),
    [
        ({}, 3600, None),
        ({"expirationSeconds": 600}, 600, None),
        ({"expirationSeconds": 3607}, 3607, None),
        ({"expirationSeconds": 3607, "boundObjectRef": ref("Pod", "p")}, 31_536_000, 3607),
        (
            {"expirationSeconds": 3607, "boundObjectRef": ref("Pod", "p"), "audiences": ["x"]},
            3607,
            None,
        ),
    ],
)
def test_how_long_it_lives(spec: dict[str, Any], seconds: int, warn_after: int | None) -> None:
    answer = ask(spec, pods=RUNNING)
    found = claims(answer)
    assert found["exp"] == AT + seconds
    assert found["kubernetes.io"].get("warnafter") == (warn_after and AT + warn_after)
    shown = "2026-01-02T04:04:12Z" if spec.get("expirationSeconds") == 3607 else None
    assert shown in {None, answer["status"]["expirationTimestamp"]}


def test_the_answer_names_the_account() -> None:
    answer = ask({})
    assert answer["metadata"] == {
        "name": "robot",
        "namespace": "ns",
        "uid": "a-uid",
        "creationTimestamp": "2026-01-02T03:04:05Z",
    }
    assert answer["spec"]["audiences"] == ["api"]
    assert claims(answer)["aud"] == ["api"]


def test_admission_sees_what_the_request_left_open() -> None:
    issuer = TokenIssuer("https://issuer", ("api",), SIGNER, world(), lambda gate: True)
    seen = issuer.prepared({"spec": {"expirationSeconds": 600}}, "ns", "robot", NOW)
    assert (seen["metadata"]["name"], seen["spec"]["audiences"]) == ("robot", ["api"])
    assert seen["status"] == {"token": "", "expirationTimestamp": None}


@pytest.mark.parametrize(
    ("spec", "metadata", "objects", "code", "message"),
    [
        ({}, {}, {"serviceaccounts": None}, 404, 'serviceaccounts "robot" not found'),
        (
            {},
            {"name": "x"},
            {"serviceaccounts": None},
            422,
            'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: '
            '"x": must match the service account name if specified',
        ),
        (
            {"boundObjectRef": ref("Pod", "p")},
            {},
            {"pods": FOREIGN},
            400,
            'cannot bind token for serviceaccount "robot" to pod running with different '
            "serviceaccount name.",
        ),
        (
            {"boundObjectRef": ref("Secret", "s", "other")},
            {},
            {"secrets": SECRET},
            409,
            'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference '
            "(other) does not match the UID in record. The object might have been deleted and then "
            "recreated",
        ),
        (
            {"boundObjectRef": ref("ConfigMap", "c")},
            {},
            {},
            400,
            "cannot bind token to object of type /v1, Kind=ConfigMap",
        ),
        (
            {"boundObjectRef": {"apiVersion": "http://x", "kind": "Other"}},
            {},
            {},
            400,
            "cannot bind token to object of type /, Kind=Other",
        ),
        ({"boundObjectRef": ref("Node", "m")}, {}, {"nodes": NODE}, 404, 'nodes "m" not found'),
        (
            {"boundObjectRef": ref("Pod", "p")},
            {},
            {"pods": named("q", "u")},
            404,
            'pods "p" not found',
        ),
        (
            {"boundObjectRef": ref("Secret", "s/x")},
            {},
            {},
            400,
            "Name parameter invalid: \"s/x\": may not contain '/'",
        ),
        ({"boundObjectRef": ref("Node", "")}, {}, {}, 400, "Name parameter required."),
    ],
)
def test_refused(
    spec: dict[str, Any],
    metadata: dict[str, Any],
    objects: dict[str, Any],
    code: int,
    message: str,
) -> None:
    with pytest.raises(StatusError) as refused:
        ask(spec, metadata, **objects)
    assert (refused.value.code, refused.value.status.message) == (code, message)


def test_before_the_gate_no_token_is_bound_to_a_node() -> None:
    """As kube-apiserver 1.30 answers, whether or not there is such a node."""
    with pytest.raises(StatusError) as refused:
        ask({"boundObjectRef": ref("Node", "none")}, without=["ServiceAccountTokenNodeBinding"])
    assert refused.value.status.message == (
        'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate '
        "is disabled"
    )
