"""Service account tokens: what is claimed in them, and who shows one.

A token is bound to its account, and may be bound to a pod, secret or node as well: it ends with any
of them. As k8s.io/kubernetes `pkg/serviceaccount/{claims,jwt}.go`.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from celadon.apiserver.authn.identities import (
    CREDENTIAL_ID,
    NODE_NAME,
    NODE_UID,
    POD_NAME,
    POD_UID,
    StoredObjects,
)
from celadon.kube import JsonObject, User, metadata, status
from celadon.kube.rbac import quoted_list, service_account_user
from celadon.kube.well_known_values import NODES, PODS, SECRETS, SERVICE_ACCOUNTS
from celadon.records import dataclass

# --- Signed tokens -----------------------------------------------------------
#
# Signed tokens (JWS, compact form) as texts: taken apart and put together, nothing verified.
#
# Keys and signatures have a section of their own below. RFC 7515.


MOST_CHARACTERS: Final = 128 << 10
"""Of a token that is read."""


class KeyFileError(ValueError):
    """Text that holds no key that can be used."""


class NotAToken(ValueError):
    """Text that has not the form of a signed token."""


class SignatureRefused(Exception):
    """A token whose signature none of the keys can verify."""


def encoded(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def encoded_json(value: Mapping[str, Any]) -> str:
    """A member of a token that is a JSON object; its members are sorted by name."""
    return encoded(json.dumps(value, separators=(",", ":"), sort_keys=True).encode())


def decoded(part: str) -> bytes:
    """Base64url without padding. Raises NotAToken."""
    if "=" in part or not part.isascii():
        raise NotAToken(part)
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise NotAToken(part) from None


def _without_doubles(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Which of two members counts, nobody should have to know. Raises ValueError."""
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("doubled member")
    return found


def _no_number(text: str) -> float:
    raise ValueError(text)


def decoded_json(part: str) -> dict[str, Any]:
    """A member of a token that is a JSON object. Raises NotAToken."""
    try:
        value = json.loads(
            decoded(part), object_pairs_hook=_without_doubles, parse_constant=_no_number
        )
    except (ValueError, RecursionError):
        raise NotAToken(part) from None
    if not isinstance(value, dict):
        raise NotAToken(part)
    return value


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token taken apart; nothing about it is verified yet."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes


def parse_token(text: str) -> SignedToken:
    """Raises NotAToken, also for what is too long to be one: anybody may send a megabyte, and it
    is read before it is known whether it is signed."""
    parts = text.split(".", 3)
    if len(parts) != 3 or len(text) > MOST_CHARACTERS:
        raise NotAToken(text)
    header, claims, signature = parts
    return SignedToken(
        decoded_json(header),
        decoded_json(claims),
        f"{header}.{claims}".encode(),
        decoded(signature),
    )


# --- Signer on demand --------------------------------------------------------
#
# The key of service account tokens, read when the first of them is signed or shown.
#
# Most servers of a test never see one, and loading what knows of keys takes a tenth of a start.


class SignerOnDemand:
    """`pem` gives the private key, and may raise what reading it raises."""

    def __init__(self, pem: Callable[[], bytes]) -> None:
        self._pem = pem
        self._read: Signer | None = None

    def signer(self) -> Signer:
        """Raises KeyFileError for a key that cannot be used."""
        if self._read is None:
            self._read = Signer.from_pem(self._pem())
        return self._read

    def sign(self, claims: Mapping[str, Any]) -> str:
        """The token; members of the claims are sorted by name."""
        return self.signer().sign(claims)

    def verify(self, token: SignedToken) -> None:
        """Raises SignatureRefused unless the key made the signature."""

        verify(token, (self.signer().public_key,))


LEEWAY: Final = datetime.timedelta(minutes=1)
"""How far clocks may differ: go-jose's DefaultLeeway."""

KUBERNETES: Final = "kubernetes.io"
INVALIDATED: Final = "service account token has been invalidated"
NO_DATE: Final = "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate"
_SECONDS: Final = 1 << 63
LEGACY_TOKEN: Final = "authentication.k8s.io/legacy-token"
STALE_TOKEN: Final = "authentication.k8s.io/stale-token"


class TokenRefused(Exception):
    """A token of ours that proves nothing; the text says why, and is what a TokenReview shows."""


@dataclass(frozen=True, slots=True)
class TokenBearer:
    """Who showed a token, and for which of the audiences asked for it is good."""

    user: User
    audiences: tuple[str, ...]
    annotations: tuple[tuple[str, str], ...] = ()
    """For the audit event."""


@dataclass(frozen=True, slots=True)
class BoundTo:
    """What a token is bound to besides its account; a pod comes with its node."""

    pod: JsonObject | None = None
    secret: JsonObject | None = None
    node: JsonObject | None = None


def token_claims(
    account: JsonObject,
    bound: BoundTo,
    audiences: Sequence[str],
    *,
    issuer: str,
    token_id: str,
    now: datetime.datetime,
    seconds: int,
    warn_after: int = 0,
) -> dict[str, Any]:
    """`seconds` and `warn_after` count from now; no warning if the latter is 0."""
    at = int(now.timestamp())
    namespace = metadata.namespace(account)
    private: dict[str, Any] = {"namespace": namespace, "serviceaccount": _reference(account)}
    for name, obj in (("pod", bound.pod), ("secret", bound.secret), ("node", bound.node)):
        if obj is not None:
            private[name] = _reference(obj)
    if warn_after:
        private["warnafter"] = at + warn_after
    return {
        "aud": list(audiences),
        "exp": at + seconds,
        "iat": at,
        "iss": issuer,
        "jti": token_id,
        KUBERNETES: private,
        "nbf": at,
        "sub": service_account_user(namespace, metadata.name(account)).name,
    }


def _reference(obj: JsonObject) -> dict[str, str]:
    members = {"name": metadata.name(obj), "uid": metadata.uid(obj)}
    return {name: value for name, value in members.items() if value}


@dataclass(frozen=True, slots=True)
class ServiceAccountTokens:
    """Accepts tokens of the first issuer and those before it, signed by its key."""

    issuers: tuple[str, ...]
    api_audiences: tuple[str, ...]
    signer: SignerOnDemand
    objects: StoredObjects

    def authenticate(
        self, text: str, audiences: Sequence[str], now: datetime.datetime
    ) -> TokenBearer | None:
        """None when it is no token of ours; raises TokenRefused when it is a bad one."""
        try:
            token = parse_token(text)
        except NotAToken:
            return None
        claims = token.claims
        if claims.get("iss") not in self.issuers:
            return None
        try:
            self.signer.verify(token)
        except SignatureRefused as error:
            raise TokenRefused(str(error)) from None
        claimed = _audiences(claims)
        good = tuple(one for one in claimed or self.api_audiences if one in audiences)
        if not good:
            raise TokenRefused(
                f"token audiences {quoted_list(claimed)} is invalid for the target audiences "
                f"{quoted_list(audiences)}"
            )
        _check_times(claims, now)
        private = claims.get(KUBERNETES)
        user = self._user(claims, private if isinstance(private, dict) else {}, now)
        return TokenBearer(user, good, tuple(_annotations(claims, now)))

    def _user(self, claims: JsonObject, private: JsonObject, now: datetime.datetime) -> User:
        namespace = str(private.get("namespace") or "")
        name, uid = _claimed(private, "serviceaccount")
        account = self.objects.get(SERVICE_ACCOUNTS, namespace, name)
        if account is None:
            refused = status.not_found(SERVICE_ACCOUNTS.group_resource, name)
            raise TokenRefused(str(refused))
        if _gone(account, now):
            raise TokenRefused(f"service account {namespace}/{name} has been deleted")
        if metadata.uid(account) != uid:
            stored = metadata.uid(account)
            raise TokenRefused(f"service account UID ({stored}) does not match claim ({uid})")
        self._check_bound(private, namespace, now)
        user = service_account_user(namespace, name)
        return User(user.name, user.groups, uid, dict(_extra(claims, private)))

    def _check_bound(self, private: JsonObject, namespace: str, now: datetime.datetime) -> None:
        """A node of a pod may have gone; a node that a token is bound to by itself may not."""
        kinds = [("secret", SECRETS, namespace), ("pod", PODS, namespace)]
        if "pod" not in private:
            kinds.append(("node", NODES, ""))
        for kind, resource, where in kinds:
            if kind not in private:
                continue
            name, uid = _claimed(private, kind)
            obj = self.objects.get(resource, where, name)
            if obj is None or _gone(obj, now):
                raise TokenRefused(INVALIDATED)
            if metadata.uid(obj) != uid:
                raise TokenRefused(
                    f"{kind} UID ({metadata.uid(obj)}) does not match service account "
                    f"{kind} ref claim ({uid})"
                )


def _claimed(private: JsonObject, kind: str) -> tuple[str, str]:
    """Name and uid of a reference."""
    reference = private.get(kind)
    if not isinstance(reference, dict):
        return "", ""
    return str(reference.get("name") or ""), str(reference.get("uid") or "")


def _gone(obj: JsonObject, now: datetime.datetime) -> bool:
    """Deleted, and for longer than clocks may differ."""
    deleted = metadata.deletion_timestamp(obj)
    return bool(deleted) and datetime.datetime.fromisoformat(deleted) < now - LEEWAY


def _audiences(claims: JsonObject) -> tuple[str, ...]:
    given = claims.get("aud")
    if isinstance(given, str):
        return (given,)
    return tuple(str(one) for one in given) if isinstance(given, list) else ()


def _check_times(claims: JsonObject, now: datetime.datetime) -> None:
    at, leeway = now.timestamp(), LEEWAY.total_seconds()
    expiry, issued, not_before = (_date(claims, name) for name in ("exp", "iat", "nbf"))
    if not_before is not None and at + leeway < not_before:
        raise TokenRefused("service account token is not valid yet")
    if expiry is not None and at - leeway > expiry:
        raise TokenRefused("service account token has expired")
    if issued is not None and at + leeway < issued:
        raise TokenRefused("service account token is issued in the future")


def _date(claims: JsonObject, name: str) -> int | None:
    """Whole seconds; None if the claim is not made. A number that is too large for them is the
    least there is, as in Go. Raises TokenRefused for what is no number."""
    if name not in claims:
        return None
    value = claims[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value in (math.inf, -math.inf):
        raise TokenRefused(NO_DATE)
    return int(value) if -_SECONDS <= value < _SECONDS else -_SECONDS


def _extra(claims: JsonObject, private: JsonObject) -> Iterator[tuple[str, tuple[str, ...]]]:
    token_id = claims.get("jti")
    if token_id:
        yield CREDENTIAL_ID, (f"JTI={token_id}",)
    pod, pod_uid = _claimed(private, "pod")
    if pod and pod_uid:
        yield POD_NAME, (pod,)
        yield POD_UID, (pod_uid,)
    node, node_uid = _claimed(private, "node")
    if node:
        yield NODE_NAME, (node,)
    if node_uid:
        yield NODE_UID, (node_uid,)


def _annotations(claims: JsonObject, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    subject = str(claims.get("sub") or "")
    if not _audiences(claims):
        yield LEGACY_TOKEN, subject
    private = claims.get(KUBERNETES)
    warn_after = _date(private, "warnafter") if isinstance(private, dict) else None
    if warn_after and now.timestamp() > warn_after:
        late = int(now.timestamp()) - int(warn_after)
        yield STALE_TOKEN, f"subject: {subject}, seconds after warning threshold: {late}"


# --- Signing keys ------------------------------------------------------------
#
# Keys of service account tokens: they sign tokens, and verify what was signed.
#
# A key's id is the base64url SHA-256 of its public half in DER form. RSA keys sign RS256, P-256
# keys ES256. As k8s.io/kubernetes `pkg/serviceaccount/jwt.go`; RFC 7518 section 3.


PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey

RS256: Final = "RS256"
ES256: Final = "ES256"
_HALF: Final = 32
"""Bytes of each of the two numbers of an ES256 signature."""

WRONG_SIGNATURE: Final = "go-jose/go-jose: error in cryptographic primitive"


def new_elliptic_key() -> bytes:
    """A fresh ECDSA key on P-256 as PEM (PKCS 8): made in a millisecond, an RSA key takes a
    hundred."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key that signs tokens."""

    key: PrivateKey

    @classmethod
    def from_pem(cls, pem: bytes) -> Signer:
        """Raises KeyFileError."""
        try:
            key = serialization.load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise KeyFileError(f"cannot read the private key: {error}") from None
        if isinstance(key, rsa.RSAPrivateKey):
            return cls(key)
        if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1):
            return cls(key)
        raise KeyFileError("the private key is neither RSA nor ECDSA on P-256")

    @property
    def public_key(self) -> PublicKey:
        return self.key.public_key()

    def sign(self, claims: Mapping[str, Any]) -> str:
        """The token; members of the claims are sorted by name."""
        public = self.public_key
        header = {"alg": _algorithm(public), "kid": key_id(public)}
        signed = f"{encoded_json(header)}.{encoded_json(claims)}"
        return f"{signed}.{encoded(self._signature(signed.encode()))}"

    def web_key(self) -> dict[str, str]:
        """The public half as a JSON Web Key (RFC 7517), the members in go-jose's order."""
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
        r, s = decode_dss_signature(self.key.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(_HALF, "big") + s.to_bytes(_HALF, "big")


def _number(value: int, length: int = 0) -> str:
    """As few bytes as it takes, or `length` of them."""
    return encoded(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


def key_id(key: PublicKey) -> str:
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return encoded(hashlib.sha256(der).digest())


def _algorithm(key: PublicKey) -> str:
    return RS256 if isinstance(key, rsa.RSAPublicKey) else ES256


def verify(token: SignedToken, keys: Iterable[PublicKey]) -> None:
    """Raises SignatureRefused unless one of the keys made the signature. If the token names a key
    that is there, only that one is tried. What a token calls critical is nothing that we know."""
    named = token.header.get("kid")
    every = list(keys)
    chosen = [key for key in every if key_id(key) == named] or every
    if not chosen:
        raise SignatureRefused("invalid signature, no keys found")
    if "crit" in token.header or not any(_verifies(key, token) for key in chosen):
        raise SignatureRefused(WRONG_SIGNATURE)


def _verifies(key: PublicKey, token: SignedToken) -> bool:
    """The algorithm is that of the key; what the token says must agree."""
    if token.header.get("alg") != _algorithm(key):
        return False
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(token.signature, token.signed, padding.PKCS1v15(), hashes.SHA256())
        else:
            if len(token.signature) != 2 * _HALF:
                return False
            r, s = (
                int.from_bytes(half, "big")
                for half in (token.signature[:_HALF], token.signature[_HALF:])
            )
            key.verify(encode_dss_signature(r, s), token.signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True
