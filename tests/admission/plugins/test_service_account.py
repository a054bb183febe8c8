"""ServiceAccount, as far as it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.plugins.asking import ACCOUNT, asked, mutated, obj, pod, refusal, world

MIRROR = {"kubernetes.io/config.mirror": "x"}


def account(**members: Any) -> dict[str, Any]:
    """Whose pods may use only the secrets that it names."""
    made = obj("ServiceAccount", "strict", **members)
    made["metadata"].update(
        namespace="ns", annotations={"kubernetes.io/enforce-mountable-secrets": "true"}
    )
    return made


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, ""),
        (
            {"serviceAccountName": "bot"},
            '403 pods "p" is forbidden: error looking up service account ns/bot: '
            'serviceaccount "bot" not found',
        ),
        (
            {"serviceAccountName": "a/b%"},
            '403 pods "p" is forbidden: error looking up service account ns/a/b%: invalid resource '
            "name \"a/b%\": [may not contain '/' may not contain '%']",
        ),
    ],
)
def test_accounts_exist(spec: dict[str, Any], text: str) -> None:
    assert mutated("ServiceAccount", asked(pod(**spec)))[1] == text


def test_after_validation_the_account_is_looked_up_again() -> None:
    assert refusal("ServiceAccount", asked(pod())) == (
        '403 pods "p" is forbidden: no service account specified for pod ns/p'
    )
    named = asked(pod(serviceAccountName="default"))
    assert refusal("ServiceAccount", named) == ""
    assert "not found" in refusal("ServiceAccount", asked(pod(serviceAccountName="bot")))


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, ""),
        ({"serviceAccountName": "default"}, "a mirror pod may not reference service accounts"),
        ({"imagePullSecrets": [{"name": "s"}]}, "a mirror pod may not reference secrets"),
        (
            {
                "volumes": [
                    {
                        "name": "v",
                        "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]},
                    }
                ]
            },
            "a mirror pod may not use ServiceAccountToken volume projections",
        ),
    ],
)
def test_mirror_pods(spec: dict[str, Any], text: str) -> None:
    expected = f'403 pods "p" is forbidden: {text}' if text else ""
    made, refused = mutated("ServiceAccount", asked(pod(MIRROR, **spec)))
    assert refused == expected
    assert refusal("ServiceAccount", asked(pod(MIRROR, **spec))) == expected
    if not text:
        assert "serviceAccountName" not in made["spec"]


KEY_REF = {"name": "E", "valueFrom": {"secretKeyRef": {"name": "b", "key": "k"}}}
NOT_ALLOWED = "is not allowed because service account strict does not reference that secret"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"volumes": [{"name": "v", "secret": {"secretName": "a"}}]}, ""),
        (
            {"volumes": [{"name": "v", "secret": {"secretName": "b"}}]},
            f'volume with secret.secretName="b" {NOT_ALLOWED}',
        ),
        (
            {"initContainers": [{"name": "i", "env": [KEY_REF]}]},
            f'init container i with envVar E referencing secret.secretName="b" {NOT_ALLOWED}',
        ),
        (
            {"containers": [{"name": "c", "env": [KEY_REF]}]},
            f'container c with envVar E referencing secret.secretName="b" {NOT_ALLOWED}',
        ),
        (
            {"containers": [{"name": "c", "envFrom": [{"secretRef": {"name": "b"}}]}]},
            f'container c with envFrom referencing secret.secretName="b" {NOT_ALLOWED}',
        ),
        (
            {"imagePullSecrets": [{"name": "pull"}, {"name": "b"}]},
            'imagePullSecrets[1].name="b" is not allowed because service account strict does not '
            "reference that imagePullSecret",
        ),
    ],
)
def test_mountable_secrets(spec: dict[str, Any], text: str) -> None:
    around = world(account(secrets=[{"name": "a"}], imagePullSecrets=[{"name": "pull"}]))
    asking = asked(pod(serviceAccountName="strict", **spec))
    expected = f'403 pods "p" is forbidden: {text}' if text else ""
    assert refusal("ServiceAccount", asking, around) == expected
    lenient = world({**ACCOUNT, "metadata": {"name": "strict", "namespace": "ns"}})
    assert refusal("ServiceAccount", asking, lenient) == ""


def test_ephemeral_containers() -> None:
    old = pod(serviceAccountName="strict")
    new = pod(serviceAccountName="strict", ephemeralContainers=[{"name": "e", "env": [KEY_REF]}])
    asking = asked(new, old, subresource="ephemeralcontainers")
    assert refusal("ServiceAccount", asking, world(account())) == (
        '403 pods "p" is forbidden: ephemeral container e with envVar E referencing '
        f'secret.secretName="b" {NOT_ALLOWED}'
    )
    assert refusal("ServiceAccount", asked(new, old), world(account())) == ""
    knowing = {**account(), "secrets": [{"name": "b"}]}
    assert refusal("ServiceAccount", asking, world(knowing)) == ""


@pytest.mark.parametrize(
    ("says", "strict"),
    [("true", True), ("1", True), ("T", True), ("TRUE", True), ("false", False), ("yes", False)],
)
def test_what_an_account_says_is_read_as_go_does(says: str, strict: bool) -> None:
    holder = account()
    holder["metadata"]["annotations"] = {"kubernetes.io/enforce-mountable-secrets": says}
    asking = asked(pod(serviceAccountName="strict", volumes=[{"name": "v", "secret": {}}]))
    text = f'403 pods "p" is forbidden: volume with secret.secretName="" {NOT_ALLOWED}'
    assert refusal("ServiceAccount", asking, world(holder)) == (text if strict else "")


def test_references_without_a_name_name_nothing() -> None:
    nameless = {"name": "E", "valueFrom": {"secretKeyRef": {"key": "k"}}}
    elsewhere = {"name": "F", "valueFrom": {"fieldRef": {"fieldPath": "p"}}}
    plain = [elsewhere, {"name": "G", "value": "v"}]
    sources = [{"configMapRef": {"name": "m"}}, {"secretRef": {"name": "a"}}]
    fine = {"name": "c", "env": plain, "envFrom": sources}
    around = world(account(secrets=[{"name": "a"}]))

    def said(*containers: dict[str, Any]) -> str:
        asking = asked(pod(serviceAccountName="strict", containers=list(containers)))
        return refusal("ServiceAccount", asking, around).partition(": ")[2]

    assert said(fine) == ""
    assert said(fine, {"env": [nameless]}) == (
        f'container  with envVar E referencing secret.secretName="" {NOT_ALLOWED}'
    )
    assert said(fine, {"name": "d", "envFrom": [{"secretRef": {}}]}) == (
        f'container d with envFrom referencing secret.secretName="" {NOT_ALLOWED}'
    )


def test_updates_are_not_looked_at() -> None:
    asking = asked(pod(serviceAccountName="bot"), pod())
    assert mutated("ServiceAccount", asking)[1] == refusal("ServiceAccount", asking) == ""
