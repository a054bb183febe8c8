"""Service account tokens: what is claimed in them, and who shows one.

A token is bound to its account, and may be bound to a pod, secret or node as well: it ends with any
of them. As k8s.io/kubernetes `pkg/serviceaccount/{claims,jwt}.go`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from celadon.apiserver.authn import identities, signed_tokens
from celadon.kube import JsonObject, User, metadata, name_rules, status
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.rbac import quoted_list, service_account_user
from celadon.kube.well_known_values import NODES, PODS, SECRETS, SERVICE_ACCOUNTS
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.apiserver.authn.signing_keys import Signer


# --- Signer on demand --------------------------------------------------------
#
# The key of service account tokens, read when the first of them is signed or shown.
#
# Most servers of a test never see one, and loading what knows of keys takes a tenth of a start.


class SignerOnDemand:
    """Reads the key that signs tokens when it is first needed. `pem` gives the private key, and may
    raise what reading it raises. `more` are PEM texts of keys and certificates: what was signed by
    one of them is good as well."""

    def __init__(self, pem: Callable[[], bytes], more: Sequence[bytes] = ()) -> None:
        self._pem = pem
        self._other_keys = more
        self._read: Signer | None = None

    def signer(self) -> Signer:
        """Return the signer, made at the first call. Raises KeyFileError for a key that cannot be
        used."""
        if self._read is None:
            # late: see above
            from celadon.apiserver.authn.signing_keys import Signer

            self._read = Signer.from_pem(self._pem())
        return self._read

    def sign(self, claims: JsonObject) -> str:
        """Return the token; members of the claims are sorted by name."""
        return self.signer().sign(claims)

    def verify(self, token: signed_tokens.SignedToken) -> None:
        """Check the signature of a token. Raises SignatureRefused unless one of the keys made
        it."""
        # late: see above
        from celadon.apiserver.authn.signing_keys import public_keys, verify

        more = [key for pem in self._other_keys for key in public_keys(pem)]
        verify(token, (self.signer().public_key, *more))


LEEWAY: Final = datetime.timedelta(minutes=1)
"""How far clocks may differ: go-jose's DefaultLeeway."""

KUBERNETES: Final = "kubernetes.io"
INVALIDATED: Final = "service account token has been invalidated"
NO_DATE: Final = "go-jose/go-jose/jwt: expected number value to unmarshal NumericDate"
NO_AUDIENCE: Final = "go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience"
LONE_SURROGATE: Final = late_pattern("[\ud800-\udfff]")
_SECONDS: Final = 1 << 63
LEGACY_TOKEN: Final = "authentication.k8s.io/legacy-token"
STALE_TOKEN: Final = "authentication.k8s.io/stale-token"


class TokenRefused(Exception):
    """A token of ours that proves nothing; the text says why, and is what a TokenReview shows."""


@dataclass(frozen=True, slots=True)
class TokenBearer:
    """Says who showed a token, and for which of the audiences that were asked for it is good."""

    user: User
    audiences: tuple[str, ...]
    annotations: tuple[tuple[str, str], ...] = ()
    """For the audit event."""


@dataclass(frozen=True, slots=True)
class BoundTo:
    """Holds what a token is bound to besides its account; a pod comes with its node."""

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
) -> JsonDict:
    """`seconds` and `warn_after` count from now; no warning if the latter is 0."""
    index = int(now.timestamp())
    namespace = metadata.namespace(account)
    private: JsonDict = {"namespace": namespace, "serviceaccount": _reference(account)}
    for name, obj in (("pod", bound.pod), ("secret", bound.secret), ("node", bound.node)):
        if obj is not None:
            private[name] = _reference(obj)
    if warn_after:
        private["warnafter"] = index + warn_after
    return {
        "aud": list(audiences),
        "exp": index + seconds,
        "iat": index,
        "iss": issuer,
        "jti": token_id,
        KUBERNETES: private,
        "nbf": index,
        "sub": service_account_user(namespace, metadata.name(account)).name,
    }


def _reference(obj: JsonObject) -> dict[str, str]:
    members = {"name": metadata.name(obj), "uid": metadata.uid(obj)}
    return {name: value for name, value in members.items() if value}


# --- Claims ------------------------------------------------------------------
#
# What a token claims, read as go-jose reads it into the structures of upstream.
#
# A value of a wrong type refuses the token, also one that nobody asks for; a member that upstream
# does not know may be anything.

_TEXT: Final = "string"
_DATE: Final = "NumericDate"
_AUDIENCE: Final = "Audience"
_Fields: TypeAlias = Mapping[str, "str | tuple[str, _Fields]"]
_REFERENCE: Final = ("serviceaccount.ref", {"name": _TEXT, "uid": _TEXT})
_PUBLIC: Final[_Fields] = {
    **dict.fromkeys(("iss", "sub", "jti"), _TEXT),
    **dict.fromkeys(("exp", "nbf", "iat"), _DATE),
    "aud": _AUDIENCE,
}
_PRIVATE: Final[_Fields] = {
    KUBERNETES: (
        "serviceaccount.kubernetes",
        {
            "namespace": _TEXT,
            "warnafter": _DATE,
            **dict.fromkeys(("serviceaccount", "pod", "secret", "node"), _REFERENCE),
        },
    )
}


def read_claims(payload: bytes) -> JsonObject:
    """Return the claims that upstream knows, without those that are null. Raises TokenRefused."""
    members = signed_tokens.decoded_json(payload)
    if not isinstance(members, signed_tokens.Members):
        raise TokenRefused(signed_tokens.wrong_type(members, "jwt.Claims"))
    result: JsonDict = {}
    for fields in (_PUBLIC, _PRIVATE):
        faults: list[str] = []
        try:
            result |= _read(members, fields, faults)
        except ValueError as error:
            raise TokenRefused(str(error)) from None
        if faults:
            raise TokenRefused(faults[0])
    return result


def _read(members: signed_tokens.Members, fields: _Fields, faults: list[str]) -> JsonDict:
    """Read members. A wrong type is told at the end, as go-jose does; what else is wrong raises
    ValueError."""
    result: JsonDict = {}
    for name, value in members.without_doubles().items():
        kind = fields.get(name)
        if kind == _AUDIENCE:
            result[name] = _audiences(value)
        elif value is None or kind is None:
            continue
        elif kind == _DATE:
            result[name] = _date(value)
        elif isinstance(kind, tuple) and isinstance(value, signed_tokens.Members):
            result[name] = _read(value, kind[1], faults)
        elif kind == _TEXT and isinstance(value, str):
            result[name] = LONE_SURROGATE.sub("\ufffd", value)
        else:
            faults.append(
                signed_tokens.wrong_type(value, kind if isinstance(kind, str) else kind[0])
            )
    return result


def _audiences(value: object) -> tuple[str, ...]:
    """Read the audiences of a claim. Raises ValueError."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(NO_AUDIENCE)
    return tuple(LONE_SURROGATE.sub("\ufffd", text) for text in texts)


def _date(value: object) -> int:
    """Return a date in whole seconds. A number that is too large for them is the least there is, as
    in Go. Raises ValueError for what is no number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isinf(value):
        raise ValueError(NO_DATE)
    return int(value) if -_SECONDS <= value < _SECONDS else -_SECONDS


def _issuer(payload: bytes) -> str:
    """Return the issuer that a token claims before anything is verified; empty if it claims none.
    Names of members are in either case here, as in Go's `encoding/json`."""
    members = signed_tokens.decoded_json(payload)
    if not isinstance(members, signed_tokens.Members):
        return ""
    named = [value for name, value in members if name.lower() == "iss" and value is not None]
    return named[-1] if named and all(isinstance(item, str) for item in named) else ""


@dataclass(frozen=True, slots=True)
class ServiceAccountTokens:
    """Accepts tokens of the first issuer and those before it, signed by its key."""

    issuers: tuple[str, ...]
    api_audiences: tuple[str, ...]
    signer: SignerOnDemand
    objects: identities.StoredObjects

    def authenticate(
        self, text: str, audiences: Sequence[str], now: datetime.datetime
    ) -> TokenBearer | None:
        """Return who bears a token, or None when it is no token of ours; raise TokenRefused when it
        is a bad one."""
        try:
            token = signed_tokens.parse_token(text)
            if _issuer(token.payload) not in self.issuers:
                return None
        except signed_tokens.NotAToken:
            return None
        try:
            self.signer.verify(token)
        except signed_tokens.SignatureRefused as error:
            raise TokenRefused(str(error)) from None
        claims = read_claims(token.payload)
        if claims.get("iss", "") not in self.issuers:
            raise TokenRefused(f"token issuer {quote(claims.get('iss', ''))} is invalid")
        claimed = claims.get("aud", ())
        good = tuple(item for item in claimed or self.api_audiences if item in audiences)
        if not good:
            raise TokenRefused(
                f"token audiences {quoted_list(claimed)} is invalid for the target audiences "
                f"{quoted_list(audiences)}"
            )
        _check_times(claims, now)
        user = self._user(claims, claims.get(KUBERNETES, {}), now)
        return TokenBearer(user, good, tuple(_annotations(claims, now)))

    def _user(self, claims: JsonObject, private: JsonObject, now: datetime.datetime) -> User:
        namespace = private.get("namespace", "")
        name, uid = _claimed(private, "serviceaccount")
        _check_path(namespace, name)
        account = self.objects.get(SERVICE_ACCOUNTS, namespace, name)
        if account is None:
            refused = status.not_found(SERVICE_ACCOUNTS.group_resource, name)
            raise TokenRefused(str(refused))
        if metadata.uid(account) != uid:
            stored = metadata.uid(account)
            raise TokenRefused(f"service account UID ({stored}) does not match claim ({uid})")
        if _gone(account, now):
            raise TokenRefused(f"service account {namespace}/{name} has been deleted")
        self._check_bound(private, namespace, now)
        user = service_account_user(namespace, name)
        return User(user.name, user.groups, uid, dict(_extra(claims, private)))

    def _check_bound(self, private: JsonObject, namespace: str, now: datetime.datetime) -> None:
        """Check what a token is bound to. A node of a pod may have gone; a node that a token is
        bound to by itself may not."""
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


def _check_path(namespace: str, name: str) -> None:
    """Refuse names that client-go can make no request with, or a server none without a namespace,
    in their words. Raises TokenRefused."""
    for word, text in (("namespace", namespace), ("resource name", name)):
        faults = name_rules.path_segment_name(text)
        if faults:
            raise TokenRefused(f"invalid {word} {quote(text)}: [{' '.join(faults)}]")
    if not name:
        raise TokenRefused("resource name may not be empty")
    if not namespace:
        raise TokenRefused("the server could not find the requested resource")


def _claimed(private: JsonObject, kind: str) -> tuple[str, str]:
    """Name and uid of a reference."""
    reference = private.get(kind, {})
    return reference.get("name", ""), reference.get("uid", "")


def _gone(obj: JsonObject, now: datetime.datetime) -> bool:
    """Return whether an object is deleted, and has been for longer than clocks may differ."""
    deleted = metadata.deletion_timestamp(obj)
    return bool(deleted) and datetime.datetime.fromisoformat(deleted) < now - LEEWAY


def _check_times(claims: JsonObject, now: datetime.datetime) -> None:
    timestamp, leeway = now.timestamp(), LEEWAY.total_seconds()
    expiry, issued, not_before = (claims.get(name) for name in ("exp", "iat", "nbf"))
    if not_before is not None and timestamp + leeway < not_before:
        raise TokenRefused("service account token is not valid yet")
    if expiry is not None and timestamp - leeway > expiry:
        raise TokenRefused("service account token has expired")
    if issued is not None and timestamp + leeway < issued:
        raise TokenRefused("service account token is issued in the future")


def _extra(claims: JsonObject, private: JsonObject) -> Iterator[tuple[str, tuple[str, ...]]]:
    token_id = claims.get("jti")
    if token_id:
        yield identities.CREDENTIAL_ID, (f"JTI={token_id}",)
    pod, pod_uid = _claimed(private, "pod")
    if pod and pod_uid:
        yield identities.POD_NAME, (pod,)
        yield identities.POD_UID, (pod_uid,)
    node, node_uid = _claimed(private, "node")
    if node:
        yield identities.NODE_NAME, (node,)
    if node_uid:
        yield identities.NODE_UID, (node_uid,)


def _annotations(claims: JsonObject, now: datetime.datetime) -> Iterator[tuple[str, str]]:
    subject = claims.get("sub", "")
    if not claims.get("aud"):
        yield LEGACY_TOKEN, subject
    warn_after = claims.get(KUBERNETES, {}).get("warnafter")
    if warn_after and now.timestamp() > warn_after:
        late = int(now.timestamp()) - warn_after
        yield STALE_TOKEN, f"subject: {subject}, seconds after warning threshold: {late}"
