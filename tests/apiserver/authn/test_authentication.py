"""Which of the things a request offers counts."""

from __future__ import annotations

import tracemalloc

import pytest

from celadon.apiserver.authn.authentication import (
    SPACE_BEFORE_TOKEN,
    Authentication,
    Authenticator,
    Credentials,
    TokenFile,
    bearer_token,
)
from celadon.apiserver.authn.service_account_tokens import (
    BoundTo,
    ServiceAccountTokens,
    token_claims,
)
from celadon.kube import User
from tests.apiserver.authn.front_desk import ISSUER, NOW, SIGNER
from tests.apiserver.authn.test_client_certificates import certificate
from tests.apiserver.authn.test_service_account_tokens import ACCOUNT, world

API = ("api",)
TOKENS = TokenFile(
    {
        "t": User("alice", ("devs",)),
        "nobody": User("n", ("system:unauthenticated",)),
        "anonymous": User("system:anonymous", ("devs",)),
    }
)
ACCOUNTS = ServiceAccountTokens((ISSUER,), API, SIGNER, world())
ALL = Authenticator(API, TOKENS, ACCOUNTS, client_certificates=True)
ALICE = User("alice", ("devs", "system:authenticated"))
ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
STALE = SIGNER.sign(
    token_claims(ACCOUNT, BoundTo(), ["x"], issuer=ISSUER, token_id="j", now=NOW, seconds=60)
)


@pytest.mark.parametrize(
    ("header", "token", "warnings"),
    [
        ("", "", ()),
        ("Bearer t", "t", ()),
        ("bEaReR t", "t", ()),
        ("  Bearer t  ", "t", ()),
        ("Bearer t more", "t", ()),
        ("Bearer", "", ()),
        ("Bearer ", "", ()),
        ("Bearer  t", "", (SPACE_BEFORE_TOKEN,)),
        ("Basic t", "", ()),
        ("t", "", ()),
    ],
)
def test_the_header(header: str, token: str, warnings: tuple[str, ...]) -> None:
    assert bearer_token(header) == (token, warnings)


@pytest.mark.parametrize(
    ("credentials", "user"),
    [
        (Credentials(), ANONYMOUS),
        (Credentials("Basic x"), ANONYMOUS),
        (Credentials("Bearer t"), ALICE),
        (Credentials("Bearer nobody"), User("n", ("system:unauthenticated",))),
        (Credentials(certificate=certificate("")), ANONYMOUS),
        (Credentials("Bearer anonymous"), User("system:anonymous", ("devs",))),
        (Credentials("Bearer t", b"nonsense"), ALICE),
    ],
)
def test_who_it_is(credentials: Credentials, user: User) -> None:
    assert ALL.authenticate(credentials, NOW).user == user


def test_the_certificate_comes_first() -> None:
    found = ALL.authenticate(Credentials("Bearer t", certificate("carol", ("ops",))), NOW)
    assert found.user is not None
    assert (found.user.name, found.user.groups) == ("carol", ("ops", "system:authenticated"))


def test_certificates_do_not_count_unless_they_are_configured() -> None:
    found = Authenticator(API, TOKENS).authenticate(Credentials("", certificate("carol")), NOW)
    assert found.user == ANONYMOUS


@pytest.mark.parametrize(
    ("credentials", "error"),
    [
        (Credentials("Bearer x"), "invalid bearer token"),
        (
            Credentials(f"Bearer {STALE}"),
            '[invalid bearer token, token audiences ["x"] is invalid for the target audiences '
            '["api"]]',
        ),
    ],
)
def test_refused(credentials: Credentials, error: str) -> None:
    assert ALL.authenticate(credentials, NOW) == Authentication(None, error=error)


def test_two_proofs_of_nothing() -> None:
    found = ALL.authenticate(Credentials("Bearer x", b"nonsense"), NOW)
    assert found.user is None
    assert found.error.startswith("[invalid bearer token, x509: malformed certificate")


def test_without_anonymous_users() -> None:
    assert Authenticator(API, anonymous=False).authenticate(Credentials(), NOW).user is None


def test_nothing_of_what_clients_send_is_remembered_but_tokens_of_the_file() -> None:
    authenticator = Authenticator(API, TOKENS)
    tracemalloc.start()
    try:
        for number in range(10):
            text = f"Bearer t {number} {'x' * 100_000}"
            assert authenticator.authenticate(Credentials(text), NOW).user == ALICE
        text = ""
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000


@pytest.mark.parametrize(("wanted", "known"), [(["api", "x"], True), (["x"], False), (None, True)])
def test_tokens_of_the_file_are_for_the_server_itself(
    wanted: list[str] | None, known: bool
) -> None:
    found = ALL.authenticate(Credentials("Bearer t"), NOW, wanted)
    assert (found.user == ALICE) is known
    assert found.audiences == (API if known else ())
