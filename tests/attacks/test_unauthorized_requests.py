"""Who has no right gets none: by every path, method, header and disguise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apiserver.asking import ask, make, read
from tests.apiserver.in_process import Running

SECRET = "do-not-tell"
SECRETS = "/api/v1/namespaces/kube-system/secrets"
NOBODY = {"a user without rights": "alice-token", "nobody known": ""}

# What every user of Kubernetes may ask: about themselves, and what a server has.
FREE = {"selfsubjectreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"}
METHODS = {
    "create": "POST",
    "delete": "DELETE",
    "deletecollection": "DELETE",
    "get": "GET",
    "list": "GET",
    "patch": "PATCH",
    "update": "PUT",
    "watch": "GET",
}
OF_COLLECTIONS = {"create", "deletecollection", "list", "watch"}


@pytest.fixture(scope="module")
def guarded() -> Iterator[Running]:
    server = Running()
    make(server, SECRETS, {"metadata": {"name": "s"}, "stringData": {"password": SECRET}})
    yield server
    server.close()


def _served(server: Running) -> Iterator[tuple[str, str, str]]:
    """Resource, method and path of everything that discovery names."""
    groups = read(ask(server, "GET", "/apis"))["groups"]
    versions = ["/api/v1"] + [
        f"/apis/{version['groupVersion']}" for group in groups for version in group["versions"]
    ]
    for version in versions:
        for resource in read(ask(server, "GET", version))["resources"]:
            namespace = "/namespaces/kube-system" if resource["namespaced"] else ""
            plural, _, subresource = resource["name"].partition("/")
            for verb in resource["verbs"]:
                path = f"{version}{namespace}/{plural}"
                if subresource or verb not in OF_COLLECTIONS:
                    path += "/s"
                if subresource:
                    path += f"/{subresource}"
                yield resource["name"], METHODS[verb], path + ("?watch=1" * (verb == "watch"))


@pytest.mark.parametrize("token", NOBODY.values(), ids=NOBODY)
def test_every_verb_of_every_resource_is_forbidden(guarded: Running, token: str) -> None:
    asked = list(_served(guarded))
    assert len(asked) > 500
    for resource, method, path in asked:
        if token and resource in FREE:
            continue
        answer = ask(guarded, method, path, b"{", token, content_type="application/json")
        assert answer.code == 403, (method, path, answer.body)
        assert SECRET.encode() not in answer.body


DISGUISES = [
    f"{SECRETS}/s/",
    f"/{SECRETS}/s",
    f"{SECRETS}//s",
    "/api/v1/namespaces/kube-system/./secrets/s",
    "/api/v1/namespaces/default/../kube-system/secrets/s",
    "/healthz/../api/v1/namespaces/kube-system/secrets/s",
    "/api/v1/namespaces/kube-system%2Fsecrets%2Fs",
    "/api/v1/namespaces/kube-system/%73ecrets/s",
    "/api/v1/namespaces/kube-system/secrets/%73",
    "/api/v1/namespaces/kube-system/secrets%00/s",
    "/API/V1/namespaces/kube-system/secrets/s",
    "/api/v1/namespaces/kube-system/Secrets/s",
    "/api/v1/namespaces/kube-system/secrets;x/s",
    "/api/v1/watch/namespaces/kube-system/secrets/s",
    "/api/v1/watch/secrets",
    "/api/v1/secrets?fieldSelector=metadata.name%3Ds",
    f"{SECRETS}?watch=true&resourceVersion=0",
    f"{SECRETS}?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
    f"{SECRETS}/s?dryRun=All",
    "/apis/v1/namespaces/kube-system/secrets/s",
    "/apis//v1/namespaces/kube-system/secrets/s",
    "/api/v1/proxy/namespaces/kube-system/secrets/s",
    "/api/v1/namespaces/kube-system/services/kubernetes/proxy/api/v1/secrets",
]
HEADERS: list[dict[str, str]] = [
    {},
    {"Impersonate_User": "admin"},
    {"Impersonate_Group": "system:masters"},
    {"Impersonate_User": "system:serviceaccount:kube-system:generic-garbage-collector"},
    {"Impersonate_Uid": "admin-uid"},
    {"Impersonate_Extra_scopes": "all"},
    {"X_Remote_User": "admin", "X_Remote_Group": "system:masters"},
    {"X_Forwarded_User": "admin"},
    {"X_HTTP_Method_Override": "GET"},
    {"X_Original_URL": "/healthz"},
    {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"},
    {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"},
    {"Accept": "application/vnd.kubernetes.protobuf"},
]


@pytest.mark.parametrize("token", NOBODY.values(), ids=NOBODY)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_no_disguise_of_a_path_or_a_header_helps(guarded: Running, method: str, token: str) -> None:
    plain = [f"{SECRETS}/s"]
    for path in DISGUISES + plain:
        for headers in HEADERS:
            answer = ask(guarded, method, path, None, token, **headers)
            assert answer.code >= 300, (path, headers, answer.code)
            assert SECRET.encode() not in answer.body
            assert answer.stream is None
    kept = read(ask(guarded, "GET", plain[0]))
    assert kept["metadata"]["name"] == "s"


@pytest.mark.parametrize(
    "token",
    [
        "admin-tokeN",
        "admin-token\x00",
        "admin",
        "admin-uid",
        "system:masters",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
        "..",
        "a.b.c",
        "*",
        "%61dmin-token",
    ],
)
def test_tokens_that_are_nearly_right(guarded: Running, token: str) -> None:
    answer = ask(guarded, "GET", f"{SECRETS}/s", token="", authorization=f"Bearer {token}")
    assert answer.code == 401, answer.body


@pytest.mark.parametrize("scheme", ["Basic", "bearer:", "Digest", "Negotiate", "Bearer\t", ""])
def test_other_schemes_are_no_credentials(guarded: Running, scheme: str) -> None:
    answer = ask(guarded, "GET", f"{SECRETS}/s", token="", authorization=f"{scheme} admin-token")
    assert answer.code in {401, 403}


def test_reviews_tell_nobody_what_others_may(guarded: Running) -> None:
    body: dict[str, Any] = {"spec": {"user": "admin", "nonResourceAttributes": {"path": "/"}}}
    review = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    assert ask(guarded, "POST", review, body, "alice-token").code == 403
    mine = ask(
        guarded,
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {"spec": {"resourceAttributes": {"verb": "get", "resource": "secrets"}}},
        "alice-token",
    )
    assert json.loads(mine.body)["status"]["allowed"] is False
