"""TokenRequest: a token for a service account, for some time and audiences.

As k8s.io/kubernetes `pkg/registry/core/serviceaccount/storage/token.go`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Final

from celadon.apiserver.authn.authentication import Authenticator, Credentials
from celadon.apiserver.authn.identities import StoredObjects, user_info
from celadon.apiserver.authn.service_account_tokens import BoundTo, SignerOnDemand, token_claims
from celadon.kube import (
    FieldPath,
    GroupKind,
    GroupResource,
    GroupVersionResource,
    JsonObject,
    StatusError,
    User,
    fieldpath,
    metadata,
    status,
)
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import (
    AUTHENTICATION_GROUP,
    NODES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from celadon.records import dataclass

# --- Identity reviews --------------------------------------------------------
#
# Who am I, and whose token is this: the reviews of authentication.k8s.io.
#
# As k8s.io/kubernetes `pkg/registry/authentication/{selfsubjectreview,tokenreview}`.


def rfc3339(at: datetime.datetime) -> str:
    """Return a time as it stands in objects: in UTC, in whole seconds."""
    return at.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def self_subject_review(user: User, now: datetime.datetime) -> JsonDict:
    """Answer who the user is. Nothing of the review that was sent comes back."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": f"{AUTHENTICATION_GROUP}/v1",
        "metadata": {"creationTimestamp": rfc3339(now)},
        "status": {"userInfo": user_info(user)},
    }


def token_review(
    review: JsonObject, authenticator: Authenticator, now: datetime.datetime
) -> tuple[JsonDict, tuple[str, ...]]:
    """The answer, and warnings. The token is tried as if a request had come with it, so one with a
    space before it is nobody's: that of the anonymous user. Raises StatusError (400)."""
    spec = review.get("spec") or {}
    token = spec.get("token")
    if not token:
        raise status.bad_request("token is required for TokenReview in authentication")
    audiences = spec.get("audiences") or None
    found = authenticator.authenticate(Credentials(f"Bearer {token}"), now, audiences)
    # What the client says of the answer stays where the answer says nothing.
    given = {key: one for key, one in (review.get("status") or {}).items() if one}
    shown: JsonDict = {"user": {}, **given}
    shown.pop("authenticated", None)
    if found.user is not None:
        shown = {"authenticated": True, **shown, "user": user_info(found.user)}
        shown.pop("audiences", None)
        if found.audiences:
            shown["audiences"] = list(found.audiences)
    if found.error:
        shown["error"] = found.error
    return {**review, "status": shown}, found.warnings


KIND: Final = GroupKind("authentication.k8s.io", "TokenRequest")
MIN_SECONDS: Final = 600
MAX_SECONDS: Final = 1 << 32
WARN_SECONDS: Final = 3607
"""The lifetime that projected volumes ask for: such a token warns after it and lives a year."""

EXTENDED_SECONDS: Final = 365 * 24 * 3600
ISSUED_CREDENTIAL: Final = "authentication.kubernetes.io/issued-credential-id"

_UID_GATE: Final = "TokenRequestServiceAccountUIDValidation"
_SECONDS: Final = FieldPath("spec").child("expirationSeconds")
_NO_TOKEN: Final[JsonDict] = {"token": "", "expirationTimestamp": None}
_BINDABLE: Final = {"Pod": PODS, "Secret": SECRETS, "Node": NODES}


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """`objects` is asked for the account and for what the token is bound to, `has_gate` whether a
    feature gate is on."""

    issuer: str
    api_audiences: tuple[str, ...]
    signer: SignerOnDemand
    objects: StoredObjects
    has_gate: Callable[[str], bool]

    def prepared(
        self, request: JsonObject, namespace: str, name: str, now: datetime.datetime, uid: str = ""
    ) -> JsonDict:
        """A TokenRequest (decoded and defaulted) for this account with all that it left open, which
        is what admission sees. `uid` is what the client says of the account. Raises StatusError."""
        _require_own(request, namespace, name)
        account = self._get(SERVICE_ACCOUNTS, namespace, name)
        if uid and uid != metadata.uid(account) and self.has_gate(_UID_GATE):
            raise _other_account(uid, account)
        spec = dict(request.get("spec") or {})
        spec["audiences"] = spec.get("audiences") or list(self.api_audiences)
        _require_lifetime(spec["expirationSeconds"])
        meta = {
            **metadata.metadata(request),
            "name": name,
            "namespace": namespace,
            **({"uid": metadata.uid(account)} if is_since("1.34") else {}),
            "creationTimestamp": rfc3339(now),
        }
        return {**request, "metadata": meta, "spec": spec, "status": _NO_TOKEN}

    def issued(
        self, request: JsonObject, now: datetime.datetime, token_id: str
    ) -> tuple[JsonDict, tuple[tuple[str, str], ...]]:
        """The answer to a prepared request, and annotations of the audit event. Raises
        StatusError."""
        spec, name, namespace = request["spec"], metadata.name(request), metadata.namespace(request)
        account = self._get(SERVICE_ACCOUNTS, namespace, name)
        bound = self._bound(spec.get("boundObjectRef"), namespace, name)
        seconds, warn_after = self._lifetime(spec, bound)
        claims = token_claims(
            account,
            bound,
            spec["audiences"],
            issuer=self.issuer,
            token_id=token_id,
            now=now,
            seconds=seconds,
            warn_after=warn_after,
        )
        ends = now + datetime.timedelta(seconds=spec["expirationSeconds"])
        told = {"token": self.signer.sign(claims), "expirationTimestamp": rfc3339(ends)}
        return {**request, "status": told}, ((ISSUED_CREDENTIAL, f"JTI={token_id}"),)

    def _get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject:
        status.require_name(name)
        found = self.objects.get(resource, namespace, name)
        if found is None:
            raise status.not_found(resource.group_resource, name)
        return found

    def _bound(self, ref: JsonObject | None, namespace: str, account: str) -> BoundTo:
        if ref is None:
            return BoundTo()
        api_version, kind = ref.get("apiVersion") or "", ref.get("kind") or ""
        group, slash, version = api_version.rpartition("/")
        resource = None if group else _BINDABLE.get(kind)
        if resource is None:
            shown = f"{group}/{version}, Kind={kind}" if slash else f"/{version}, Kind={kind}"
            raise status.bad_request(f"cannot bind token to object of type {shown}")
        where = "" if kind == "Node" else namespace
        obj = self._get(resource, where, ref.get("name") or "")
        if kind == "Pod":
            bound = BoundTo(pod=obj, node=self._node_of(obj, account))
        else:
            bound = BoundTo(secret=obj) if kind == "Secret" else BoundTo(node=obj)
        if ref.get("uid") and metadata.uid(obj) != ref["uid"]:
            raise _other_uid(ref)
        return bound

    def _node_of(self, pod: JsonObject, account: str) -> JsonObject | None:
        """A pod's node, by its name alone if there is no such object."""
        spec = pod.get("spec") or {}
        if spec.get("serviceAccountName") != account:
            raise status.bad_request(
                f"cannot bind token for serviceaccount {quote(account)} to pod running with "
                "different serviceaccount name."
            )
        node = spec.get("nodeName")
        if not node:
            return None
        return self.objects.get(NODES, "", node) or {"metadata": {"name": node}}

    def _lifetime(self, spec: JsonObject, bound: BoundTo) -> tuple[int, int]:
        """Return the seconds until the token ends, and those until using it is worth a warning (0:
        never)."""
        seconds = spec["expirationSeconds"]
        own = set(spec["audiences"]) == set(self.api_audiences)
        if bound.pod is not None and seconds == WARN_SECONDS and own:
            return EXTENDED_SECONDS, seconds
        return seconds, 0


def _require_own(request: JsonObject, namespace: str, name: str) -> None:
    """Raises StatusError (422) if the request names another account."""
    meta = metadata.metadata(request)
    for field, own, said in (
        ("name", name, "must match the service account name if specified"),
        ("namespace", namespace, "must match the service account namespace if specified"),
    ):
        if meta.get(field) and meta[field] != own:
            error = fieldpath.invalid(FieldPath("metadata").child(field), meta[field], said)
            raise status.invalid(KIND, name, [error])


def _require_lifetime(seconds: int) -> None:
    """Raises StatusError (422)."""
    detail = ""
    if seconds < MIN_SECONDS:
        detail = "may not specify a duration less than 10 minutes"
    elif seconds > MAX_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
    if detail:
        raise status.invalid(KIND, "", [fieldpath.invalid(_SECONDS, seconds, detail)])


def _other_account(uid: str, account: JsonObject) -> StatusError:
    why = (
        f"the UID in the token request ({uid}) does not match the UID of the service account "
        f"({metadata.uid(account)})"
    )
    return status.conflict(
        GroupResource(AUTHENTICATION_GROUP, KIND.kind), metadata.name(account), why
    )


def _other_uid(ref: JsonObject) -> StatusError:
    why = (
        f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. "
        "The object might have been deleted and then recreated"
    )
    return status.conflict(GroupResource("", ref["kind"]), ref.get("name") or "", why)
