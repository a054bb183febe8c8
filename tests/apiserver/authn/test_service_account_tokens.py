"""Whose a service account token is, and all that ends it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from celadon.apiserver.authn.service_account_tokens import (
    BoundTo,
    ServiceAccountTokens,
    TokenRefused,
    read_claims,
    token_claims,
)
from celadon.apiserver.authn.signed_tokens import Members, encoded
from celadon.kube import User
from tests.apiserver.authn.front_desk import NOW, SIGNER, Objects

ISSUER = "https://issuer"
API = ("api",)
HOUR = 3600
UNBOUND = BoundTo()
SECOND = datetime.timedelta(seconds=1)


def named(name: str, uid: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ns", "uid": uid, **metadata}}


ACCOUNT = named("robot", "a-uid")
POD = named("p", "p-uid")
SECRET = named("s", "s-uid")
NODE = {"metadata": {"name": "n", "uid": "n-uid"}}


def world(**objects: dict[str, Any] | None) -> Objects:
    found = Objects()
    standing = {"serviceaccounts": ACCOUNT, "pods": POD, "secrets": SECRET, "nodes": NODE}
    for resource, obj in (standing | objects).items():
        if obj is not None:
            found.put(resource, obj)
    return found


def token(bound: BoundTo = UNBOUND, **more: Any) -> str:
    given: dict[str, Any] = {
        "audiences": API,
        "issuer": ISSUER,
        "token_id": "j",
        "now": NOW,
        "seconds": HOUR,
    }
    return SIGNER.sign(token_claims(ACCOUNT, bound, **(given | more)))


def tokens(objects: Objects) -> ServiceAccountTokens:
    return ServiceAccountTokens((ISSUER,), API, SIGNER, objects)


def test_claims() -> None:
    bound = BoundTo(pod=POD, node=NODE)
    at = int(NOW.timestamp())
    assert token_claims(
        ACCOUNT, bound, ["x"], issuer=ISSUER, token_id="j", now=NOW, seconds=60, warn_after=30
    ) == {
        "aud": ["x"],
        "exp": at + 60,
        "iat": at,
        "nbf": at,
        "iss": ISSUER,
        "jti": "j",
        "sub": "system:serviceaccount:ns:robot",
        "kubernetes.io": {
            "namespace": "ns",
            "serviceaccount": {"name": "robot", "uid": "a-uid"},
            "pod": {"name": "p", "uid": "p-uid"},
            "node": {"name": "n", "uid": "n-uid"},
            "warnafter": at + 30,
        },
    }


PREFIX = "authentication.kubernetes.io/"
OF_TOKEN = {f"{PREFIX}credential-id": ("JTI=j",)}
OF_POD = {f"{PREFIX}pod-name": ("p",), f"{PREFIX}pod-uid": ("p-uid",)}
OF_NODE = {f"{PREFIX}node-name": ("n",), f"{PREFIX}node-uid": ("n-uid",)}


@pytest.mark.parametrize(
    ("bound", "extra"),
    [
        (BoundTo(), OF_TOKEN),
        (BoundTo(secret=SECRET), OF_TOKEN),
        (BoundTo(pod=POD), OF_TOKEN | OF_POD),
        (BoundTo(pod=POD, node=NODE), OF_TOKEN | OF_POD | OF_NODE),
        (BoundTo(node=NODE), OF_TOKEN | OF_NODE),
    ],
)
def test_who_it_is(bound: BoundTo, extra: dict[str, Any]) -> None:
    found = tokens(world()).authenticate(token(bound), API, NOW)
    assert found is not None
    groups = ("system:serviceaccounts", "system:serviceaccounts:ns")
    assert found.user == User("system:serviceaccount:ns:robot", groups, "a-uid", extra)
    assert found.audiences == API


GONE = {"deletionTimestamp": "2026-01-02T03:00:00Z"}
JUST_GONE = {"deletionTimestamp": "2026-01-02T03:04:00Z"}
INVALIDATED = "service account token has been invalidated"
REFUSED: list[tuple[str, Callable[[], str], dict[str, Any], str]] = [
    ("no account", token, {"serviceaccounts": None}, 'serviceaccounts "robot" not found'),
    (
        "another account",
        token,
        {"serviceaccounts": named("robot", "new")},
        "service account UID (new) does not match claim (a-uid)",
    ),
    (
        "deleted account",
        token,
        {"serviceaccounts": named("robot", "a-uid", **GONE)},
        "service account ns/robot has been deleted",
    ),
    ("no pod", lambda: token(BoundTo(pod=POD)), {"pods": None}, INVALIDATED),
    (
        "another pod",
        lambda: token(BoundTo(pod=POD)),
        {"pods": named("p", "new")},
        "pod UID (new) does not match service account pod ref claim (p-uid)",
    ),
    (
        "deleted pod",
        lambda: token(BoundTo(pod=POD)),
        {"pods": named("p", "p-uid", **GONE)},
        INVALIDATED,
    ),
    ("no secret", lambda: token(BoundTo(secret=SECRET)), {"secrets": None}, INVALIDATED),
    ("no node", lambda: token(BoundTo(node=NODE)), {"nodes": None}, INVALIDATED),
    (
        "other audiences",
        lambda: token(audiences=["x", "y"]),
        {},
        'token audiences ["x" "y"] is invalid for the target audiences ["api"]',
    ),
    (
        "expired",
        lambda: token(now=NOW - datetime.timedelta(seconds=HOUR + 61)),
        {},
        "service account token has expired",
    ),
    (
        "of the future",
        lambda: token(now=NOW + datetime.timedelta(seconds=61)),
        {},
        "service account token is not valid yet",
    ),
]


LATER = NOW.timestamp() + HOUR
NO_DATE = "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate"
EXPIRED = "service account token has expired"
CLAIMS = token_claims(ACCOUNT, UNBOUND, API, issuer=ISSUER, token_id="j", now=NOW, seconds=HOUR)


def test_a_date_is_a_number_and_issued_is_not_to_come() -> None:
    """What is too large for a number of seconds is the least there is, as in Go."""
    for claims, why in (
        ({"exp": str(LATER)}, NO_DATE),
        ({"exp": [LATER]}, NO_DATE),
        ({"exp": True}, NO_DATE),
        ({"exp": 1e30}, EXPIRED),
        ({"exp": 10**300}, EXPIRED),
        ({"nbf": "0"}, NO_DATE),
        ({"iat": {}}, NO_DATE),
        ({"iat": LATER}, "service account token is issued in the future"),
    ):
        with pytest.raises(TokenRefused) as refused:
            tokens(world()).authenticate(SIGNER.sign(CLAIMS | claims), API, NOW)
        assert str(refused.value) == why, claims
    within = SIGNER.sign(CLAIMS | {"iat": NOW.timestamp() + 59, "exp": LATER + 0.5})
    assert tokens(world()).authenticate(within, API, NOW) is not None


def wrong(kind: str, wanted: str) -> str:
    return f"json: cannot unmarshal {kind} into Go value of type {wanted}"


NO_AUDIENCE = "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"
NO_AUDIENCES: tuple[object, ...] = (None, [None], 5, [5], {}, ["api", 5])
PRIVATE = CLAIMS["kubernetes.io"]


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        *(({"aud": value}, NO_AUDIENCE) for value in NO_AUDIENCES),
        ({"sub": 5}, wrong("number", "string")),
        ({"jti": []}, wrong("array", "string")),
        ({"jti": {}}, wrong("object", "string")),
        ({"sub": True}, wrong("bool", "string")),
        ({"kubernetes.io": 5}, wrong("number", "serviceaccount.kubernetes")),
        ({"kubernetes.io": "x"}, wrong("string", "serviceaccount.kubernetes")),
        ({"kubernetes.io": PRIVATE | {"pod": 5}}, wrong("number", "serviceaccount.ref")),
        ({"kubernetes.io": PRIVATE | {"namespace": 5}}, wrong("number", "string")),
        ({"kubernetes.io": PRIVATE | {"warnafter": "x"}}, NO_DATE),
        ({"kubernetes.io": None}, "resource name may not be empty"),
        (
            {"kubernetes.io": PRIVATE | {"namespace": ""}},
            "the server could not find the requested resource",
        ),
        (
            {"kubernetes.io": PRIVATE | {"namespace": "ns/../kube-system"}},
            "invalid namespace \"ns/../kube-system\": [may not contain '/']",
        ),
        (
            {"kubernetes.io": PRIVATE | {"serviceaccount": {"name": "a%2fb"}}},
            "invalid resource name \"a%2fb\": [may not contain '%']",
        ),
    ],
)
def test_claims_have_the_types_that_upstream_reads(claims: dict[str, Any], why: str) -> None:
    with pytest.raises(TokenRefused) as refused:
        tokens(world()).authenticate(SIGNER.sign(CLAIMS | claims), API, NOW)
    assert str(refused.value) == why


@pytest.mark.parametrize("claim", ["sub", "kubernetes.io", "iss", "new"])
def test_nothing_is_claimed_twice(claim: str) -> None:
    doubled = Members((*CLAIMS.items(), *((claim, CLAIMS.get(claim)) for _ in range(2))))
    with pytest.raises(ValueError, match=f"json: duplicate key '{claim}' in object"):
        doubled.without_doubles()
    inner = '{"kubernetes.io": {"namespace": "a", "namespace": "b"}}'
    with pytest.raises(TokenRefused, match="json: duplicate key 'namespace' in object"):
        read_claims(inner.encode())


def test_what_is_null_is_not_claimed_and_what_is_unknown_may_be_anything() -> None:
    nothing = {"exp": None, "nbf": None, "jti": None, "x": [5, {}], "big": 10**3000}
    unbound = {"kubernetes.io": PRIVATE | {"pod": None, "secret": None, "x": 1}}
    found = tokens(world()).authenticate(SIGNER.sign(CLAIMS | nothing | unbound), API, NOW)
    assert found is not None
    assert found.user.extra == {}


def test_an_account_that_is_another_one_is_not_said_to_be_deleted() -> None:
    objects = world(serviceaccounts=named("robot", "new", **GONE))
    with pytest.raises(TokenRefused, match="does not match claim"):
        tokens(objects).authenticate(token(), API, NOW)


@pytest.mark.parametrize(
    "payload",
    [b'{"iss": "https://issuer", "ISS": "other"}', b'{"iss": 5}', b"null", b"[]", b"", b"[" * 9000],
)
def test_whose_issuer_is_another_one_is_not_ours(payload: bytes) -> None:
    text = f"e30.{encoded(payload)}."
    assert tokens(world()).authenticate(text, API, NOW) is None


@pytest.mark.parametrize(("make", "objects", "why"), [row[1:] for row in REFUSED])
def test_refused(make: Callable[[], str], objects: dict[str, Any], why: str) -> None:
    with pytest.raises(TokenRefused) as refused:
        tokens(world(**objects)).authenticate(make(), API, NOW)
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("make", "objects"),
    [
        (lambda: token(now=NOW - datetime.timedelta(seconds=HOUR + 59)), {}),
        (lambda: token(now=NOW + datetime.timedelta(seconds=59)), {}),
        (token, {"serviceaccounts": named("robot", "a-uid", **JUST_GONE)}),
        (lambda: token(BoundTo(pod=POD, node=NODE)), {"nodes": None}),
    ],
)
def test_still_accepted(make: Callable[[], str], objects: dict[str, Any]) -> None:
    assert tokens(world(**objects)).authenticate(make(), API, NOW) is not None


@pytest.mark.parametrize("text", ["", "alice-token", "a.b.c", SIGNER.sign({"iss": "other"})])
def test_not_ours(text: str) -> None:
    assert tokens(world()).authenticate(text, API, NOW) is None


def test_what_the_audit_event_says() -> None:
    legacy = token(audiences=[])
    late = token(warn_after=10)
    found = tokens(world()).authenticate(legacy, API, NOW)
    assert found is not None
    subject = "system:serviceaccount:ns:robot"
    assert found.annotations == (("authentication.k8s.io/legacy-token", subject),)
    found = tokens(world()).authenticate(late, API, NOW + 15 * SECOND)
    assert found is not None
    text = f"subject: {subject}, seconds after warning threshold: 5"
    assert found.annotations == (("authentication.k8s.io/stale-token", text),)
