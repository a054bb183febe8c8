"""Keys of service account tokens: they sign tokens, and verify what was signed.

A key's id is the base64url SHA-256 of its public half in DER form. RSA keys sign RS256, P-256 keys
ES256; what others have signed with an RSA key may be signed in more ways. As k8s.io/kubernetes
`pkg/serviceaccount/jwt.go`; RFC 7518 section 3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from celadon.apiserver.authn import signed_tokens
from celadon.kube.json_types import JsonObject
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey

RS256: Final = "RS256"
ES256: Final = "ES256"
_HALF: Final = 32
"""Bytes of each of the two numbers of an ES256 signature."""

_SHA: Final = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}
_OF_RSA: Final[Mapping[str, tuple[padding.AsymmetricPadding, hashes.HashAlgorithm]]] = {
    **{f"RS{bits}": (padding.PKCS1v15(), sha) for bits, sha in _SHA.items()},
    **{
        f"PS{bits}": (padding.PSS(padding.MGF1(sha), padding.PSS.AUTO), sha)
        for bits, sha in _SHA.items()
    },
}
"""What an RSA key verifies: RFC 7518, 3.3 and 3.5."""
WRONG_SIGNATURE: Final = "go-jose/go-jose: error in cryptographic primitive"


def new_elliptic_key() -> bytes:
    """Return a fresh ECDSA key on P-256 as PEM (PKCS 8): made in a millisecond, an RSA key takes a
    hundred."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


# As k8s.io/kubernetes `pkg/serviceaccount/jwt.go` and go-jose, but of elliptic curves only P-256:
# kube-apiserver signs with P-384 and P-521 as well.
@dataclass(frozen=True, slots=True)
class Signer:
    """A private key that signs tokens."""

    key: PrivateKey

    @classmethod
    def from_pem(cls, pem: bytes) -> Signer:
        """Read a private key. Raises KeyFileError."""
        try:
            key = serialization.load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise signed_tokens.KeyFileError(f"cannot read the private key: {error}") from None
        if isinstance(key, rsa.RSAPrivateKey):
            return cls(key)
        if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
            return cls(key)
        raise signed_tokens.KeyFileError("the private key is neither RSA nor ECDSA on P-256")

    @property
    def public_key(self) -> PublicKey:
        return self.key.public_key()

    def sign(self, claims: JsonObject) -> str:
        """Return the token; members of the claims are sorted by name."""
        public = self.public_key
        header = {"alg": _algorithm(public), "kid": key_id(public)}
        signed = f"{signed_tokens.encoded_json(header)}.{signed_tokens.encoded_json(claims)}"
        return f"{signed}.{signed_tokens.encoded(self._signature(signed.encode()))}"

    # The document is the same as upstream's byte by byte, so its order is that of go-jose's struct.
    def web_key(self) -> dict[str, str]:
        """Return the public half as a JSON Web Key (RFC 7517), the members in go-jose's order."""
        public = self.public_key
        common = {"kid": key_id(public), "alg": _algorithm(public)}
        if isinstance(public, rsa.RSAPublicKey):
            of_rsa = public.public_numbers()
            numbers = {"n": _number(of_rsa.n), "e": _number(of_rsa.e)}
            return {"use": "sig", "kty": "RSA", **common, **numbers}
        of_curve = public.public_numbers()
        point = {"x": _number(of_curve.x, _HALF), "y": _number(of_curve.y, _HALF)}
        kid, alg = common["kid"], common["alg"]
        return {"use": "sig", "kty": "EC", "kid": kid, "crv": "P-256", "alg": alg, **point}

    def _signature(self, data: bytes) -> bytes:
        if isinstance(self.key, rsa.RSAPrivateKey):
            return self.key.sign(data, padding.PKCS1v15(), hashes.SHA256())
        # RFC 7518, 3.4: the two numbers one after the other, each in 32 bytes, where X.509 has DER.
        r, s = decode_dss_signature(self.key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(_HALF, "big") + s.to_bytes(_HALF, "big")


_BLOCK: Final = late_pattern(rb"(?s)-----BEGIN ([A-Z0-9 ]+)-----(?:(?!-----).)*+-----END \1-----")


def public_keys(pem: bytes) -> list[PublicKey]:
    """Return all keys of a file as `--service-account-key-file` names it: public keys, the public
    halves of private ones, and those of certificates. Raises KeyFileError where there are none, and
    for one that is neither RSA nor ECDSA on P-256."""
    keys = [_public_key(block[1].decode(), block[0]) for block in _BLOCK.finditer(pem)]
    if not keys:
        raise signed_tokens.KeyFileError("there is no key and no certificate in it")
    return keys


def _public_key(label: str, pem: bytes) -> PublicKey:
    if label.endswith("PRIVATE KEY"):
        return Signer.from_pem(pem).public_key
    try:
        if label == "CERTIFICATE":
            key = x509.load_pem_x509_certificate(pem).public_key()
        else:
            key = serialization.load_pem_public_key(pem)  # type: ignore[assignment]  # checked below
    except (ValueError, UnsupportedAlgorithm) as error:
        raise signed_tokens.KeyFileError(f"cannot read the public key: {error}") from None
    if isinstance(key, rsa.RSAPublicKey):
        return key
    if isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
        return key
    raise signed_tokens.KeyFileError("the public key is neither RSA nor ECDSA on P-256")


def _number(value: int, length: int = 0) -> str:
    """Encode a number in as few bytes as it takes, or in `length` of them."""
    return signed_tokens.encoded(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


# As `keyIDFromPublicKey` of `jwt.go`.
def key_id(key: PublicKey) -> str:
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return signed_tokens.encoded(hashlib.sha256(der).digest())


def _algorithm(key: PublicKey) -> str:
    return RS256 if isinstance(key, rsa.RSAPublicKey) else ES256


# A key that is named is the only one that counts: a token must not be good for a key that it was
# not signed for because another one happens to verify it.
def verify(token: signed_tokens.SignedToken, keys: Iterable[PublicKey]) -> None:
    """Verify the signature of a token. Raises SignatureRefused unless one of the keys made the
    signature. If the token names a key, only that one counts."""
    named = token.header.get("kid")
    chosen = [key for key in keys if not named or key_id(key) == named]
    if not chosen:
        raise signed_tokens.SignatureRefused("invalid signature, no keys found")
    _check_critical(token.header.get("crit"))
    if not any(_verifies(key, token) for key in chosen):
        raise signed_tokens.SignatureRefused(WRONG_SIGNATURE)


def _check_critical(names: object) -> None:
    """Refuse a token that calls anything critical but `b64`, which is all we know. Raises
    SignatureRefused."""
    if names is None:
        return
    if not isinstance(names, list):
        raise signed_tokens.SignatureRefused(signed_tokens.wrong_type(names, "[]string"))
    for name in names:
        if not isinstance(name, str | None):
            raise signed_tokens.SignatureRefused(signed_tokens.wrong_type(name, "string"))
    if set(names) - {"b64"}:
        raise signed_tokens.SignatureRefused(WRONG_SIGNATURE)


def _verifies(key: PublicKey, token: signed_tokens.SignedToken) -> bool:
    """Return whether a key verifies a token. The kind of the key decides which algorithms there
    are; the token says which of them."""
    # The other way round, a token could choose an algorithm that makes a public key a secret.
    algorithm = token.header.get("alg") or ""
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            return algorithm == ES256 and _verifies_numbers(key, token)
        if algorithm not in _OF_RSA:
            return False
        padded, digest = _OF_RSA[algorithm]
        key.verify(token.signature, token.signed, padded, digest)
    except InvalidSignature:
        return False
    return True


def _verifies_numbers(key: ec.EllipticCurvePublicKey, token: signed_tokens.SignedToken) -> bool:
    """Verify a signature that is two numbers. Raises InvalidSignature."""
    if len(token.signature) != 2 * _HALF:
        return False
    r, s = (int.from_bytes(half) for half in (token.signature[:_HALF], token.signature[_HALF:]))
    key.verify(encode_dss_signature(r, s), token.signed, ec.ECDSA(hashes.SHA256()))
    return True
