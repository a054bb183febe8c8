"""A key is read once, when it is needed."""

from __future__ import annotations

import pytest

from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.authn.signed_tokens import KeyFileError, SignatureRefused, parse_token
from celadon.apiserver.authn.signing_keys import new_elliptic_key


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


def test_what_another_key_signed_is_good_if_that_key_is_given() -> None:
    theirs, ours = new_elliptic_key(), new_elliptic_key()
    token = parse_token(SignerOnDemand(lambda: theirs).sign({"a": 1}))
    with pytest.raises(SignatureRefused):
        SignerOnDemand(lambda: ours).verify(token)
    SignerOnDemand(lambda: ours, (theirs,)).verify(token)
