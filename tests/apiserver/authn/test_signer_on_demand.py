"""A key is read once, when it is needed."""

from __future__ import annotations

import pytest

from celadon.apiserver.authn.service_account_tokens import (
    KeyFileError,
    SignerOnDemand,
    new_elliptic_key,
    parse_token,
)


def test_reads_its_key_once() -> None:
    made: list[bytes] = []

    def pem() -> bytes:
        made.append(new_elliptic_key())
        return made[-1]

    signer = SignerOnDemand(pem)
    assert made == []
    signer.verify(parse_token(signer.sign({"sub": "somebody"})))
    assert len(made) == 1


def test_an_unusable_key_is_said_when_it_is_read() -> None:
    signer = SignerOnDemand(lambda: b"nothing")
    with pytest.raises(KeyFileError):
        signer.signer()
