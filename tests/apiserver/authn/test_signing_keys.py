"""Signed tokens: both algorithms, keys that do not fit."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from celadon.apiserver.authn.signed_tokens import (
    KeyFileError,
    SignatureRefused,
    SignedToken,
    encoded,
    parse_token,
)
from celadon.apiserver.authn.signing_keys import (
    Signer,
    key_id,
    new_elliptic_key,
    public_keys,
    verify,
)
from celadon.apiserver.self_signed import authority_certificate


def pem(key: PrivateKeyTypes) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


RSA_PEM = pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))
SIGNERS = {"RS256": Signer.from_pem(RSA_PEM), "ES256": Signer.from_pem(new_elliptic_key())}


@pytest.mark.parametrize("algorithm", SIGNERS)
def test_what_is_signed_is_verified(algorithm: str) -> None:
    signer = SIGNERS[algorithm]
    text = signer.sign({"sub": "x", "aud": ["a"]})
    token = parse_token(text)
    assert token.header == {"alg": algorithm, "kid": key_id(signer.public_key)}
    assert json.loads(token.payload) == {"sub": "x", "aud": ["a"]}
    others = [one.public_key for one in SIGNERS.values() if one is not signer]
    verify(token, [*others, signer.public_key])
    with pytest.raises(SignatureRefused, match="invalid signature, no keys found"):
        verify(token, others)


def test_a_token_without_the_key_id_is_tried_with_all_keys() -> None:
    signer = SIGNERS["RS256"]
    header = base64.urlsafe_b64encode(json.dumps({"alg": "RS256"}).encode()).rstrip(b"=").decode()
    signed = f"{header}.e30"
    assert isinstance(signer.key, rsa.RSAPrivateKey)
    signature = signer.key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    text = f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
    verify(parse_token(text), [one.public_key for one in SIGNERS.values()])


@pytest.mark.parametrize("algorithm", SIGNERS)
def test_changed_tokens_are_refused(algorithm: str) -> None:
    signer = SIGNERS[algorithm]
    header, claims, signature = signer.sign({"sub": "x"}).split(".")
    _, other_claims, other_signature = signer.sign({"sub": "y"}).split(".")
    for text in (
        f"{header}.{other_claims}.{signature}",
        f"{header}.{claims}.{other_signature}",
        f"{header}.{claims}.",
    ):
        with pytest.raises(SignatureRefused):
            verify(parse_token(text), [signer.public_key])


def signed(header: dict[str, object], payload: bytes = b"{}") -> SignedToken:
    """A token with this header, which the RSA key has signed whatever the header says."""
    key = SIGNERS["RS256"].key
    assert isinstance(key, rsa.RSAPrivateKey)
    text = f"{encoded(json.dumps(header).encode())}.{encoded(payload)}"
    signature = key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return parse_token(f"{text}.{encoded(signature)}")


FAILURE = "go-jose/go-jose: error in cryptographic primitive"


@pytest.mark.parametrize(
    ("critical", "why"),
    [
        (["exp"], FAILURE),
        (["b64", "exp"], FAILURE),
        ([None], FAILURE),
        ("x", "json: cannot unmarshal string into Go value of type []string"),
        ({}, "json: cannot unmarshal object into Go value of type []string"),
        ([5], "json: cannot unmarshal number into Go value of type string"),
        ([], ""),
        (["b64"], ""),
        (None, ""),
    ],
)
def test_nothing_critical_is_known_but_one(critical: object, why: str) -> None:
    token, keys = signed({"alg": "RS256", "crit": critical}), [SIGNERS["RS256"].public_key]
    if not why:
        verify(token, keys)
        return
    with pytest.raises(SignatureRefused) as refused:
        verify(token, keys)
    assert str(refused.value) == why


def test_a_payload_that_is_not_encoded_is_signed_as_it_is() -> None:
    with pytest.raises(SignatureRefused):
        verify(signed({"alg": "RS256", "b64": False}), [SIGNERS["RS256"].public_key])


@pytest.mark.parametrize(
    "named",
    ["x", "../../dev/null", pytest.param(key_id(SIGNERS["ES256"].public_key), id="another one's")],
)
def test_a_key_that_is_named_is_the_only_one(named: str) -> None:
    with pytest.raises(SignatureRefused, match="invalid signature, no keys found"):
        verify(signed({"alg": "RS256", "kid": named}), [SIGNERS["RS256"].public_key])


@pytest.mark.parametrize("bits", [256, 384, 512])
def test_rsa_keys_verify_what_others_sign_with_them(bits: int) -> None:
    key = SIGNERS["RS256"].key
    assert isinstance(key, rsa.RSAPrivateKey)
    digest = {256: hashes.SHA256(), 384: hashes.SHA384(), 512: hashes.SHA512()}[bits]
    salted = padding.PSS(padding.MGF1(digest), digest.digest_size)
    for kind, padded in (("RS", padding.PKCS1v15()), ("PS", salted)):
        text = f"{encoded(json.dumps({'alg': f'{kind}{bits}'}).encode())}.e30"
        signature = key.sign(text.encode(), padded, digest)
        verify(parse_token(f"{text}.{encoded(signature)}"), [key.public_key()])


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ES256", ""])
def test_the_key_decides_the_algorithm(algorithm: str) -> None:
    signer = SIGNERS["RS256"]
    _, claims, signature = signer.sign({"sub": "x"}).split(".")
    header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm}).encode()).rstrip(b"=")
    with pytest.raises(SignatureRefused):
        verify(parse_token(f"{header.decode()}.{claims}.{signature}"), [signer.public_key])


def test_without_keys_nothing_is_verified() -> None:
    with pytest.raises(SignatureRefused, match="invalid signature, no keys found"):
        verify(parse_token(SIGNERS["RS256"].sign({})), [])


def test_the_key_id_is_of_the_public_key() -> None:
    key = SIGNERS["RS256"].public_key
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    digest = base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()
    assert key_id(key) == digest


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        pem(ed25519.Ed25519PrivateKey.generate()),
        pem(ec.generate_private_key(ec.SECP384R1())),
    ],
)
def test_keys_that_cannot_be_used(text: bytes) -> None:
    with pytest.raises(KeyFileError):
        Signer.from_pem(text)


def test_public_keys_of_files() -> None:
    key = new_elliptic_key()
    signer = Signer.from_pem(key)
    public = signer.public_key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    now = datetime.datetime.now(datetime.UTC)
    certificate = authority_certificate(key, "sa", now, datetime.timedelta(days=1))
    found = public_keys(public + b"\n# a comment\n" + key + certificate)
    assert [key_id(one) for one in found] == [key_id(signer.public_key)] * 3


@pytest.mark.parametrize(
    ("pem", "message"),
    [
        (b"nothing", "there is no key and no certificate in it"),
        (b"-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----", "cannot read the public key"),
    ],
)
def test_files_without_usable_keys(pem: bytes, message: str) -> None:
    with pytest.raises(KeyFileError, match=message):
        public_keys(pem)
