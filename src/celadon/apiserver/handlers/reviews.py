"""Handles kinds that are created, answered and never stored: access reviews, TokenReviews,
SelfSubjectReviews and TokenRequests.

A review comes decoded and defaulted; the answer is it with its `status`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from celadon.apiserver.authn.authentication import Authenticator, Credentials
from celadon.apiserver.authn.identities import StoredObjects, user_info
from celadon.apiserver.authn.service_account_tokens import BoundTo, SignerOnDemand, token_claims
from celadon.kube import (
    Answer,
    ApiVersionError,
    Attributes,
    AuthorizerBackend,
    FieldError,
    FieldPath,
    GroupKind,
    GroupResource,
    GroupVersionResource,
    JsonObject,
    Ruling,
    StatusError,
    User,
    fieldpath,
    metadata,
    name_rules,
    parse_api_version,
    selectors,
    status,
    well_known_values,
)
from celadon.kube.go import UTC_NOW, GoValue, quote
from celadon.kube.json_types import JsonDict
from celadon.kube.protobuf import ordered_message
from celadon.kube.rbac import RbacAuthorizer, aggregated
from celadon.kube.releases import is_since
from celadon.records import dataclass

# --- Access review validation ------------------------------------------------
#
# What an access review must be like to be answered.
#
# As k8s.io/kubernetes `pkg/apis/authorization/validation` and k8s.io/apimachinery
# `pkg/apis/meta/v1/validation` (selector requirements, unknown operators allowed).

_SPEC: Final = FieldPath("spec")
_METADATA: Final = FieldPath("metadata")
SELECTORS_GATE: Final = "AuthorizeWithSelectors"
_SELECTORS: Final = ("fieldSelector", "labelSelector")


def readable(review: JsonObject, gates: Mapping[str, bool]) -> JsonObject:
    """Return a review as the release takes it: 1.31 forgets selectors unless a gate is on."""
    spec = review.get("spec") or {}
    resource_attributes = spec.get("resourceAttributes")
    if is_since("1.32") or not resource_attributes or gates.get(SELECTORS_GATE, False):
        return review
    result = {name: value for name, value in resource_attributes.items() if name not in _SELECTORS}
    return {**review, "spec": {**spec, "resourceAttributes": result}}


def validate_self_review(review: JsonObject) -> list[FieldError]:
    """Validate a SelfSubjectAccessReview."""
    spec = review.get("spec") or {}
    return [*_attributes(spec), *_selectors(spec), *_no_metadata(review, frozenset())]


def validate_subject_review(review: JsonObject) -> list[FieldError]:
    """Validate a SubjectAccessReview."""
    return [*_subject_spec(review.get("spec") or {}), *_no_metadata(review, frozenset())]


def validate_local_review(review: JsonObject) -> list[FieldError]:
    """Validate a LocalSubjectAccessReview, whose resource has to be in the review's own
    namespace."""
    spec = review.get("spec") or {}
    errors = [*_subject_spec(spec), *_no_metadata(review, frozenset({"namespace"}))]
    resource = spec.get("resourceAttributes")
    if resource is not None:
        namespace = resource.get("namespace") or ""
        if namespace != metadata.namespace(review):
            path = _SPEC.child("resourceAttributes", "namespace")
            errors.append(fieldpath.invalid(path, namespace, "must match metadata.namespace"))
    if spec.get("nonResourceAttributes") is not None:
        detail = "disallowed on this kind of request"
        errors.append(_path_error(spec, detail))
    return errors


def _subject_spec(spec: JsonObject) -> Iterator[FieldError]:
    yield from _attributes(spec)
    if not spec.get("user") and not spec.get("groups"):
        detail = "at least one of user or group must be specified"
        yield fieldpath.invalid(_SPEC.child("user"), "", detail)
    yield from _selectors(spec)


def _attributes(spec: JsonObject) -> Iterator[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        yield _path_error(spec, "cannot be specified in combination with resourceAttributes")
    if resource is None and path is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield fieldpath.invalid(_SPEC.child("resourceAttributes"), None, detail)


def _path_error(spec: JsonObject, detail: str) -> FieldError:
    """Return an error at a path. The value is shown with the names of upstream's internal type."""
    path = spec["nonResourceAttributes"]
    fields = {"Path": path.get("path") or "", "Verb": path.get("verb") or ""}
    of_go = GoValue(fields, "authorization.NonResourceAttributes")
    return fieldpath.invalid(_SPEC.child("nonResourceAttributes"), of_go, detail)


def _selectors(spec: JsonObject) -> Iterator[FieldError]:
    attributes = spec.get("resourceAttributes") or {}
    path = FieldPath("spec.resourceAttributes")
    yield from _selector(attributes.get("fieldSelector"), path.child("fieldSelector"), labels=False)
    yield from _selector(attributes.get("labelSelector"), path.child("labelSelector"), labels=True)


def _selector(value: JsonObject | None, path: FieldPath, *, labels: bool) -> Iterator[FieldError]:
    if value is None:
        return
    raw, requirements = value.get("rawSelector") or "", value.get("requirements") or ()
    if raw and requirements:
        detail = "may not specified at the same time as requirements"
        yield fieldpath.invalid(path.child("rawSelector"), raw, detail)
    if not raw and not requirements:
        detail = f"when {path} is specified, requirements or rawSelector is required"
        yield fieldpath.required(path.child("requirements"), detail)
    for position, requirement in enumerate(requirements):
        where = path.child("requirements").index(position)
        if not labels and not requirement.get("key"):
            yield fieldpath.required(where.child("key"), "must be specified")
        yield from _operator(requirement, where)
        if labels:
            yield from _label_texts(requirement, where)


def _operator(requirement: JsonObject, path: FieldPath) -> Iterator[FieldError]:
    operator, values = requirement.get("operator") or "", requirement.get("values") or ()
    if operator in {"In", "NotIn"} and not values:
        detail = "must be specified when `operator` is 'In' or 'NotIn'"
        yield fieldpath.required(path.child("values"), detail)
    if operator in {"Exists", "DoesNotExist"} and values:
        detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield fieldpath.forbidden(path.child("values"), detail)


def _label_texts(requirement: JsonObject, path: FieldPath) -> Iterator[FieldError]:
    key = requirement.get("key") or ""
    for message in name_rules.qualified_name(key):
        yield fieldpath.invalid(path.child("key"), key, message)
    for position, value in enumerate(requirement.get("values") or ()):
        for message in name_rules.label_value(value):
            yield fieldpath.invalid(path.child("values").index(position), value, message)


def _no_metadata(review: JsonObject, but: frozenset[str]) -> Iterator[FieldError]:
    data = {name: value for name, value in metadata.metadata(review).items() if value}
    if not set(data) - but - {"managedFields"}:
        return
    if "managedFields" in data and not is_since("1.34"):
        data["managedFields"] = [
            {**entry, "time": entry.get("time", "").replace("Z", UTC_NOW)}
            for entry in data["managedFields"]
        ]
    fields = ordered_message(data, "meta.v1.ObjectMeta")
    exception = f" except for {', '.join(but)}" if but else ""
    yield fieldpath.invalid(
        _METADATA, GoValue(fields, "v1.ObjectMeta"), f"must be empty{exception}"
    )


# --- Access reviews ----------------------------------------------------------
#
# May I, may they: the reviews of authorization.k8s.io. As k8s.io/kubernetes
# `pkg/registry/authorization`.

_NAMELESS: Final = GroupKind(well_known_values.AUTHORIZATION_GROUP, "")
"""Upstream's refusals of reviews name no kind."""


def self_subject_access_review(
    review: JsonObject, user: User, authorizer: AuthorizerBackend
) -> JsonDict:
    """Answer whether the user may do what the review asks about. Raises StatusError (422)."""
    return _reviewed(review, user, validate_self_review(review), authorizer)


def subject_access_review(review: JsonObject, authorizer: AuthorizerBackend) -> JsonDict:
    """Answer whether the subject of the review may. Raises StatusError (422)."""
    subject = _subject(review.get("spec") or {})
    return _reviewed(review, subject, validate_subject_review(review), authorizer)


def local_subject_access_review(
    review: JsonObject, namespace: str, authorizer: AuthorizerBackend
) -> JsonDict:
    """Answer whether the subject of the review may, in the namespace of the path. Raises
    StatusError (400, 422)."""
    own_namespace = metadata.namespace(review)
    if own_namespace and own_namespace != namespace:
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    named = {**review, "metadata": {**metadata.metadata(review), "namespace": namespace}}
    errors = validate_local_review(named)
    return _reviewed(named, _subject(review.get("spec") or {}), errors, authorizer)


def _subject(spec: JsonObject) -> User:
    return User(
        spec.get("user") or "",
        tuple(spec.get("groups") or ()),
        spec.get("uid") or "",
        spec.get("extra") or {},
    )


def _reviewed(
    review: JsonObject, user: User, errors: Sequence[FieldError], authorizer: AuthorizerBackend
) -> JsonDict:
    if errors:
        raise status.invalid(_NAMELESS, "", errors)
    attributes = reviewed_attributes(review.get("spec") or {}, user)
    review_status = _access_status(authorizer.authorize(attributes), attributes)
    return {**review, "status": review_status}


def reviewed_attributes(spec: JsonObject, user: User) -> Attributes:
    """Return what a review asks."""
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return Attributes(user, path.get("verb") or "", path=path.get("path") or "")
    resource_attributes = spec.get("resourceAttributes") or {}
    named = ("group", "resource", "subresource", "namespace", "name")
    texts: JsonDict = {field: resource_attributes.get(field) or "" for field in named}
    attributes = Attributes(
        user,
        resource_attributes.get("verb") or "",
        resource_request=True,
        version=resource_attributes.get("version") or "*",
        **texts,
    )
    if resource_attributes.get("fieldSelector"):
        selector, error = _field_selector(resource_attributes["fieldSelector"])
        attributes = replace(attributes, field_selector=selector, field_selector_error=error)
    if resource_attributes.get("labelSelector"):
        chosen, error = _label_selector(resource_attributes["labelSelector"])
        attributes = replace(attributes, label_selector=chosen, label_selector_error=error)
    return attributes


def _field_selector(value: JsonObject) -> tuple[selectors.FieldSelector | None, str]:
    """Return what can be understood of it, and why the rest cannot."""
    if value.get("rawSelector"):
        try:
            return selectors.parse_field_selector(value["rawSelector"]), ""
        except selectors.SelectorError as error:
            return None, str(error)
    terms: list[selectors.FieldTerm] = []
    complaint = ""
    for requirement in value.get("requirements") or ():
        values: Sequence[str] = requirement.get("values") or ()
        if requirement.get("operator") in {"In", "NotIn"} and len(values) == 1:
            negated = requirement["operator"] == "NotIn"
            terms.append(selectors.FieldTerm(requirement.get("key") or "", values[0], negated))
        else:
            complaint = f"unsupported field selector requirement on {requirement.get('key')}"
    return (selectors.FieldSelector(tuple(terms)) if terms else None), complaint


def _label_selector(value: JsonObject) -> tuple[selectors.LabelSelector | None, str]:
    """Read a label selector, and say what is wrong with it, as `_field_selector` does."""
    if value.get("rawSelector"):
        try:
            return selectors.parse_label_selector(value["rawSelector"]), ""
        except selectors.SelectorError as error:
            return None, str(error)
    terms: list[selectors.Requirement] = []
    complaint = ""
    for requirement in value.get("requirements") or ():
        try:
            terms += selectors.label_selector({"matchExpressions": [requirement]}).requirements
        except selectors.SelectorError as error:
            complaint = str(error)
    return (selectors.LabelSelector(tuple(terms)) if terms else None), complaint


def _access_status(answer: Answer, attributes: Attributes) -> JsonDict:
    ruling, reason, error = answer
    errors = [error] if error is not None else []
    errors += _selector_errors(attributes)
    access: JsonDict = {"allowed": ruling is Ruling.ALLOW}
    if ruling is Ruling.DENY:
        access["denied"] = True
    if reason:
        access["reason"] = reason
    if errors:
        access["evaluationError"] = "; ".join(errors)
    return access


def _selector_errors(attributes: Attributes) -> Iterator[str]:
    for name, selector, error in (
        ("fieldSelector", attributes.field_selector, attributes.field_selector_error),
        ("labelSelector", attributes.label_selector, attributes.label_selector_error),
    ):
        if error:
            extent = "ignored" if selector is None else "partially ignored"
            yield f"spec.resourceAttributes.{name} {extent} due to parse error"


def self_subject_rules_review(review: JsonObject, user: User, roles: RbacAuthorizer) -> JsonDict:
    """Return what the user may do in a namespace. Nothing of the review comes back. Raises
    StatusError (400)."""
    namespace = (review.get("spec") or {}).get("namespace")
    if not namespace:
        raise status.bad_request("no namespace on request")
    rules, missing = roles.rules_for(user, namespace)
    entries = [rule.to_json() for rule in rules]
    answer: JsonDict = {
        "resourceRules": [
            _without(item, "nonResourceURLs") for item in entries if "resources" in item
        ],
        "nonResourceRules": [
            {"verbs": item["verbs"], "nonResourceURLs": item["nonResourceURLs"]}
            for item in entries
            if "nonResourceURLs" in item
        ],
        "incomplete": False,
    }
    if missing:
        answer["evaluationError"] = aggregated(ref.error for ref in missing)
    return {
        "kind": "SelfSubjectRulesReview",
        "apiVersion": f"{well_known_values.AUTHORIZATION_GROUP}/v1",
        "metadata": {} if is_since("1.34") else {"creationTimestamp": None},
        "spec": {},
        "status": answer,
    }


def _without(members: JsonObject, name: str) -> JsonDict:
    return {key: value for key, value in members.items() if key != name}


# --- Identity reviews --------------------------------------------------------
#
# Who am I, and whose token is this: the reviews of authentication.k8s.io.
#
# As k8s.io/kubernetes `pkg/registry/authentication/{selfsubjectreview,tokenreview}`.


def rfc3339(moment: datetime.datetime) -> str:
    """Return a time as it stands in objects: in UTC, in whole seconds."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def self_subject_review(user: User, now: datetime.datetime) -> JsonDict:
    """Answer who the user is. Nothing of the review that was sent comes back."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": f"{well_known_values.AUTHENTICATION_GROUP}/v1",
        "metadata": {"creationTimestamp": rfc3339(now)},
        "status": {"userInfo": user_info(user)},
    }


def token_review(
    review: JsonObject, authenticator: Authenticator, now: datetime.datetime
) -> tuple[JsonDict, tuple[str, ...]]:
    """Return the answer, and warnings. The token is tried as if a request had come with it, so one
    with a space before it is nobody's: that of the anonymous user. Raises StatusError (400)."""
    spec = review.get("spec") or {}
    token = spec.get("token")
    if not token:
        raise status.bad_request("token is required for TokenReview in authentication")
    audiences = spec.get("audiences") or None
    authentication = authenticator.authenticate(Credentials(f"Bearer {token}"), now, audiences)
    # What the client says of the answer stays where the answer says nothing.
    former = {key: member for key, member in (review.get("status") or {}).items() if member}
    state: JsonDict = {"user": {}, **former}
    state.pop("authenticated", None)
    if authentication.user is not None:
        state = {"authenticated": True, **state, "user": user_info(authentication.user)}
        state.pop("audiences", None)
        if authentication.audiences:
            state["audiences"] = list(authentication.audiences)
    if authentication.error:
        state["error"] = authentication.error
    return {**review, "status": state}, authentication.warnings


# --- Token requests ----------------------------------------------------------
#
# TokenRequest: a token for a service account, for some time and audiences.
#
# As k8s.io/kubernetes `pkg/registry/core/serviceaccount/storage/token.go`.

TOKEN_REQUEST: Final = GroupKind("authentication.k8s.io", "TokenRequest")
MIN_SECONDS: Final = 600
MAX_SECONDS: Final = 1 << 32
WARN_SECONDS: Final = 3607
"""The lifetime that projected volumes ask for: such a token warns after it and lives a year."""

EXTENDED_SECONDS: Final = 365 * 24 * 3600
ISSUED_CREDENTIAL: Final = "authentication.kubernetes.io/issued-credential-id"

_UID_GATE: Final = "TokenRequestServiceAccountUIDValidation"
_SECONDS: Final = FieldPath("spec").child("expirationSeconds")
_NO_TOKEN: Final[JsonDict] = {"token": "", "expirationTimestamp": None}
_BINDABLE: Final = {
    "Pod": well_known_values.PODS,
    "Secret": well_known_values.SECRETS,
    "Node": well_known_values.NODES,
}


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Issues tokens of ServiceAccounts. `objects` is asked for the account and for what the token
    is bound to, `has_gate` whether a feature gate is on."""

    issuer: str
    api_audiences: tuple[str, ...]
    signer: SignerOnDemand
    objects: StoredObjects
    has_gate: Callable[[str], bool]

    def prepared(
        self, request: JsonObject, namespace: str, name: str, now: datetime.datetime, uid: str = ""
    ) -> JsonDict:
        """Return a TokenRequest (decoded and defaulted) for this account with all that it left
        open, which is what admission sees. `uid` is what the client says of the account. Raises
        StatusError."""
        _require_own(request, namespace, name)
        if not namespace:
            raise status.namespace_required()
        account = self._get(well_known_values.SERVICE_ACCOUNTS, namespace, name)
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
        """Return the answer to a prepared request, and annotations of the audit event. Raises
        StatusError."""
        spec, name, namespace = request["spec"], metadata.name(request), metadata.namespace(request)
        account = self._get(well_known_values.SERVICE_ACCOUNTS, namespace, name)
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
        token_status = {"token": self.signer.sign(claims), "expirationTimestamp": rfc3339(ends)}
        return {**request, "status": token_status}, ((ISSUED_CREDENTIAL, f"JTI={token_id}"),)

    def _get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject:
        status.require_name(name)
        result = self.objects.get(resource, namespace, name)
        if result is None:
            raise status.not_found(resource.group_resource, name)
        return result

    def _bound(self, ref: JsonObject | None, namespace: str, account: str) -> BoundTo:
        if ref is None:
            return BoundTo()
        api_version, kind = ref.get("apiVersion") or "", ref.get("kind") or ""
        try:
            group, version = parse_api_version(api_version)
        except ApiVersionError:  # as `FromAPIVersionAndKind`, which leaves both out
            group = version = ""
        resource = None if group else _BINDABLE.get(kind)
        if resource is None:
            text = f"{group}/{version}, Kind={kind}"
            raise status.bad_request(f"cannot bind token to object of type {text}")
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
        """Return a pod's node, by its name alone if there is no such object."""
        spec = pod.get("spec") or {}
        if spec.get("serviceAccountName") != account:
            raise status.bad_request(
                f"cannot bind token for serviceaccount {quote(account)} to pod running with "
                "different serviceaccount name."
            )
        node = spec.get("nodeName")
        if not node:
            return None
        return self.objects.get(well_known_values.NODES, "", node) or {"metadata": {"name": node}}

    def _lifetime(self, spec: JsonObject, bound: BoundTo) -> tuple[int, int]:
        """Return the seconds until the token ends, and those until using it is worth a warning (0:
        never)."""
        seconds = spec["expirationSeconds"]
        is_for_server = set(spec["audiences"]) == set(self.api_audiences)
        if bound.pod is not None and seconds == WARN_SECONDS and is_for_server:
            return EXTENDED_SECONDS, seconds
        return seconds, 0


def _require_own(request: JsonObject, namespace: str, name: str) -> None:
    """Require that the request names its own account. Raises StatusError (422)."""
    meta = metadata.metadata(request)
    for field, text, word in (
        ("name", name, "must match the service account name if specified"),
        ("namespace", namespace, "must match the service account namespace if specified"),
    ):
        if meta.get(field) and meta[field] != text:
            error = fieldpath.invalid(FieldPath("metadata").child(field), meta[field], word)
            raise status.invalid(TOKEN_REQUEST, name, [error])


def _require_lifetime(seconds: int) -> None:
    """Require a lifetime that is allowed. Raises StatusError (422)."""
    detail = ""
    if seconds < MIN_SECONDS:
        detail = "may not specify a duration less than 10 minutes"
    elif seconds > MAX_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
    if detail:
        raise status.invalid(TOKEN_REQUEST, "", [fieldpath.invalid(_SECONDS, seconds, detail)])


def _other_account(uid: str, account: JsonObject) -> StatusError:
    reason = (
        f"the UID in the token request ({uid}) does not match the UID of the service account "
        f"({metadata.uid(account)})"
    )
    return status.conflict(
        GroupResource(well_known_values.AUTHENTICATION_GROUP, TOKEN_REQUEST.kind),
        metadata.name(account),
        reason,
    )


def _other_uid(ref: JsonObject) -> StatusError:
    reason = (
        f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record. "
        "The object might have been deleted and then recreated"
    )
    return status.conflict(GroupResource("", ref["kind"]), ref.get("name") or "", reason)
