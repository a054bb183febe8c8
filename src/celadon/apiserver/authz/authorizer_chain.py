"""Authorizes requests: the attributes that an authorizer is asked about, the chain of authorizers,
and the 403 for those who may not.

Members of `system:masters` may do everything, and everybody may ask for health. Then the
authorizers are asked in turn; what nobody allows is forbidden. As k8s.io/apiserver
`pkg/endpoints/filters/authorization.go`, `pkg/authorization/{union,path}`,
`pkg/endpoints/handlers/responsewriters/errors.go`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Final, Protocol
from weakref import WeakValueDictionary

from celadon import kube
from celadon.apiserver.authn.authentication import Authenticator, Credentials
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import COLLECTION_VERBS, RequestInfo
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.rbac import PolicyRule, aggregated
from celadon.kube.releases import is_since
from celadon.kube.selectors import (
    FieldTerm,
    SelectorError,
    parse_field_selector,
    parse_label_selector,
)
from celadon.kube.well_known_values import NODE_GROUP, NODE_LEASES, NODE_PREFIX
from celadon.records import dataclass

DECISION: Final = "authorization.k8s.io/decision"
REASON: Final = "authorization.k8s.io/reason"
INTERNAL_ERROR: Final = "internal error"
"""What the audit event says about a decision, and about one that could not be made."""

NO_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""What keeps a text from looking like HTML."""


class AlwaysAllow:
    """Everybody may do everything: k8s.io/apiserver `pkg/authorization/authorizerfactory`."""

    def authorize(self, _: kube.Attributes) -> kube.Answer:
        return kube.Ruling.ALLOW, "", None


@dataclass(frozen=True, slots=True)
class AuthorizerChain:
    """No path is open to everybody: `--authorization-always-allow-paths` is an option of other
    servers than kube-apiserver, where a role says who may ask for its health."""

    authorizers: tuple[kube.AuthorizerBackend, ...]

    def authorize(self, attributes: kube.Attributes) -> kube.Answer:
        """Return the first ruling that is not NO_OPINION; without one, all that the authorizers
        said."""
        if kube.MASTERS in attributes.user.groups:
            return kube.Ruling.ALLOW, "", None
        reasons: list[str] = []
        errors: list[str] = []
        for authorizer in self.authorizers:
            ruling, reason, error = authorizer.authorize(attributes)
            if ruling is not kube.Ruling.NO_OPINION:
                return ruling, reason, error
            reasons += [reason] if reason else []
            errors += [error] if error is not None else []
        return kube.Ruling.NO_OPINION, "\n".join(reasons), aggregated(errors) if errors else None

    def unlisted(self, user: kube.User) -> str:
        """Return why rules cannot tell all that a user may do; empty if they can."""
        knows_nodes = any(isinstance(authorizer, NodeAuthorizer) for authorizer in self.authorizers)
        return NO_RULES if knows_nodes and _is_node(user) else ""


def request_attributes(user: kube.User, info: RequestInfo, request: HttpRequest) -> kube.Attributes:
    """Return what is asked about a request."""
    if not info.is_resource:
        return kube.Attributes(user, info.verb, path=info.path)
    return kube.Attributes(
        user,
        info.verb,
        resource_request=True,
        group=info.group,
        version=info.version,
        resource=info.resource,
        subresource=info.subresource,
        namespace=info.namespace,
        name=info.name,
        **(_selectors(request) if info.verb in COLLECTION_VERBS else {}),
    )


def _selectors(request: HttpRequest) -> JsonDict:
    """Return the selectors that select anything; of one that cannot be read, the error."""
    result: JsonDict = {}
    for parameter, name, parse in (
        ("fieldSelector", "field_selector", parse_field_selector),
        ("labelSelector", "label_selector", parse_label_selector),
    ):
        text = request.first(parameter)
        if not text:
            continue
        try:
            result[name] = parse(text)
        except SelectorError as error:
            result[f"{name}_error"] = str(error)
    return result


def forbidden(attributes: kube.Attributes, reason: str = "") -> kube.StatusError:
    """Return the refusal (403) with the words `User "u" cannot get resource "pods" …`, and the
    reason after them."""
    detail = _denial(attributes).translate(NO_HTML)
    resource = kube.GroupResource(attributes.group, attributes.resource)
    return kube.status.forbidden(
        resource, attributes.name, f"{detail}: {reason}" if reason else detail
    )


def _denial(attributes: kube.Attributes) -> str:
    begin = f"User {quote(attributes.user.name)} cannot {attributes.verb}"
    if not attributes.resource_request:
        return f"{begin} path {quote(attributes.path)}"
    full = (
        f"{attributes.resource}/{attributes.subresource}"
        if attributes.subresource
        else attributes.resource
    )
    place = (
        f"in the namespace {quote(attributes.namespace)}"
        if attributes.namespace
        else "at the cluster scope"
    )
    return f"{begin} resource {quote(full)} in API group {quote(attributes.group)} {place}"


def check_access(
    attributes: kube.Attributes,
    authorizer: kube.AuthorizerBackend,
    annotate: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> str:
    """Return the reason for which it is allowed; raises StatusError: 403, or 500 if it was an error
    that prevented an answer. `annotate` is given what the audit event says about it."""
    ruling, reason, error = authorizer.authorize(attributes)
    if ruling is kube.Ruling.ALLOW:
        annotate({DECISION: "allow", REASON: reason})
        return reason
    if error is not None:
        annotate({REASON: INTERNAL_ERROR})
        raise kube.status.internal_error(error)
    annotate({DECISION: "forbid", REASON: reason})
    raise forbidden(attributes, reason)


# --- Nodes -------------------------------------------------------------------
#
# What kubelets may do: read what the pods on their node need, and write what is their own.
#
# As k8s.io/kubernetes `plugin/pkg/auth/authorizer/node`, in the words of its refusals. What is not
# subdivided here, the role `system:node` says; it is bound to nobody.

NODE_ROLE: Final = "system:node"
SELECTORS_GATE: Final = "AuthorizeNodeWithSelectors"
POD_CERTIFICATES_GATE: Final = "PodCertificateRequest"
ACCOUNT_GATES: Final = (
    "KubeletServiceAccountTokenForCredentialProviders",
    POD_CERTIFICATES_GATE,
)
_WRITES: Final = ("get", "create", "update", "patch", "delete")
_READS: Final = ("get", "list", "watch")
_OWN_NODE: Final = {"": ("create", "update", "patch"), "status": ("update", "patch")}
_OWN_PODS: Final = {
    "": ("create", "delete"),
    "status": ("update", "patch"),
    "eviction": ("create",),
}
NO_RULES: Final = "node authorizer does not support user rule resolution"


def _is_node(user: kube.User) -> bool:
    return user.name.startswith(NODE_PREFIX) and NODE_GROUP in user.groups


class NodeRelations(Protocol):
    """Tells which objects have to do with a node."""

    def has(self, node: str, resource: str, namespace: str, name: str) -> bool:
        """Return whether pods on the node need an object, or it is about the node itself."""
        ...


class _NotForNodes(Exception):
    """Says why a kubelet may not; it may be without words."""


@dataclass(frozen=True, slots=True)
class NodeAuthorizer:
    """Answers for kubelets, about whom it never has the last word. `rules` are those of their role,
    `gates` the feature gates of this section that are on."""

    relations: NodeRelations
    rules: tuple[PolicyRule, ...]
    gates: frozenset[str]

    def authorize(self, attributes: kube.Attributes) -> kube.Answer:
        """Return that a kubelet may, or no opinion, with the reason if it is about a kubelet."""
        user = attributes.user
        if not _is_node(user):
            return kube.Ruling.NO_OPINION, "", None
        node = user.name.removeprefix(NODE_PREFIX)
        if not node:
            return kube.Ruling.NO_OPINION, f"unknown node for user {quote(user.name)}", None
        try:
            self._check(node, attributes)
        except _NotForNodes as refusal:
            return kube.Ruling.NO_OPINION, str(refusal), None
        return kube.Ruling.ALLOW, "", None

    def _check(self, node: str, attributes: kube.Attributes) -> None:
        """Require that a node may. Raises _NotForNodes."""
        has_selectors = SELECTORS_GATE in self.gates
        match (attributes.group, attributes.resource) if attributes.resource_request else ("", ""):
            case ("", "secrets" | "configmaps"):
                self._check_read(node, attributes)
            case ("", "persistentvolumeclaims") if attributes.subresource == "status":
                reason = "can only get/update/patch this type"
                _require(attributes.verb in ("update", "patch"), reason)
                self._check_related(node, attributes)
            case (
                ("", "persistentvolumeclaims" | "persistentvolumes")
                | ("resource.k8s.io", "resourceclaims")
                | ("storage.k8s.io", "volumeattachments")
            ):
                self._check_get(node, attributes)
            case ("", "serviceaccounts"):
                self._check_account(node, attributes)
            case ("coordination.k8s.io", "leases"):
                _check_lease(node, attributes)
            case ("storage.k8s.io", "csinodes"):
                _check_driver(node, attributes)
            case ("resource.k8s.io", "resourceslices"):
                self._check_slice(node, attributes)
            case ("", "nodes") if has_selectors:
                _check_node(node, attributes)
            case ("", "pods") if has_selectors:
                self._check_pod(node, attributes)
            case ("certificates.k8s.io", "podcertificaterequests"):
                _require(has_selectors and POD_CERTIFICATES_GATE in self.gates)
                self._check_certificate(node, attributes)
            case _:
                _require(any(rule.allows(attributes) for rule in self.rules))

    def _check_related(self, node: str, attributes: kube.Attributes) -> None:
        _require(bool(attributes.name), "No Object name found")
        key = attributes.resource, attributes.namespace, attributes.name
        reason = f"no relationship found between node '{node}' and this object"
        _require(self.relations.has(node, *key), reason)

    def _check_get(self, node: str, attributes: kube.Attributes) -> None:
        reason = "can only get individual resources of this type"
        _require(attributes.verb == "get", reason)
        _require(not attributes.subresource, "cannot get subresource")
        self._check_related(node, attributes)

    def _check_read(self, node: str, attributes: kube.Attributes) -> None:
        _require(attributes.verb in _READS, "can only read resources of this type")
        _require(not attributes.subresource, "cannot read subresource")
        reason = "can only read namespaced object of this type"
        _require(bool(attributes.namespace), reason)
        self._check_related(node, attributes)

    def _check_account(self, node: str, attributes: kube.Attributes) -> None:
        if attributes.verb == "get" and not attributes.subresource and is_since("1.33"):
            reason = "not allowed to get service accounts"
            _require(not self.gates.isdisjoint(ACCOUNT_GATES), reason)
            self._check_read(node, attributes)
            return
        reason = "can only create tokens for individual service accounts"
        _require(attributes.verb == "create" and bool(attributes.name), reason)
        reason = "can only create token subresource of serviceaccount"
        _require(attributes.subresource == "token", reason)
        self._check_related(node, attributes)

    def _check_slice(self, node: str, attributes: kube.Attributes) -> None:
        _require(not attributes.subresource, "cannot authorize ResourceSlice subresources")
        verb = attributes.verb
        if verb == "create":  # NodeRestriction looks at its node
            return
        if verb in _WRITES:
            self._check_related(node, attributes)
            return
        if is_since("1.31"):
            verbs = "get, watch, list, create, update, patch, delete, deletecollection"
            reason = f"only the following verbs are allowed for a ResourceSlice: {verbs}"
            _require(verb in ("list", "watch", "deletecollection"), reason)
        else:
            reason = "can only get, create, update, patch, or delete a ResourceSlice"
            _require(verb in ("list", "watch"), reason)
        reason = "can only list/watch/deletecollection resourceslices with nodeName field selector"
        _require(_selects(attributes, node) or SELECTORS_GATE not in self.gates, reason)

    def _check_pod(self, node: str, attributes: kube.Attributes) -> None:
        verb, subresource = attributes.verb, attributes.subresource
        if verb in _OWN_PODS.get(subresource, ()):  # NodeRestriction looks at its node
            return
        _require(verb in _READS and not subresource)
        if verb == "get":
            self._check_get(node, attributes)
        elif not _selects(attributes, node):
            reason = "can only list/watch pods with spec.nodeName field selector"
            _require(bool(attributes.name), reason)
            self._check_related(node, attributes)

    def _check_certificate(self, node: str, attributes: kube.Attributes) -> None:
        reason = "nodes may not access the status subresource of PodCertificateRequests"
        _require(not attributes.subresource, reason)
        match attributes.verb:
            case "create":  # NodeRestriction looks at its node
                return
            case "get":
                self._check_related(node, attributes)
            case "list" | "watch":
                reason = "can only list/watch podcertificaterequests with nodeName field selector"
                _require(_selects(attributes, node), reason)
            case verb:
                raise _NotForNodes(f"nodes may not {verb} podcertificaterequests")


def _require(condition: bool, reason: str = "") -> None:  # noqa: FBT001 - a condition
    if not condition:
        raise _NotForNodes(reason)


def _selects(attributes: kube.Attributes, node: str) -> bool:
    """Return whether a field selector demands this node."""
    selector = attributes.field_selector
    return selector is not None and FieldTerm("spec.nodeName", node) in selector.terms


def _check_lease(node: str, attributes: kube.Attributes) -> None:
    reason = "can only get, create, update, patch, or delete a node lease"
    _require(attributes.verb in _WRITES, reason)
    reason = f"can only access leases in the {quote(NODE_LEASES)} system namespace"
    _require(attributes.namespace == NODE_LEASES, reason)
    _require_own(node, attributes, "node lease")


def _check_driver(node: str, attributes: kube.Attributes) -> None:
    reason = "can only get, create, update, patch, or delete a CSINode"
    _require(attributes.verb in _WRITES, reason)
    _require(not attributes.subresource, "cannot authorize CSINode subresources")
    _require_own(node, attributes, "CSINode")


def _require_own(node: str, attributes: kube.Attributes, subject: str) -> None:
    """Require that an object has the node's name; of one that is created it is not yet known."""
    is_own = attributes.verb == "create" or attributes.name == node
    _require(is_own, f"can only access {subject} with the same name as the requesting node")


def _check_node(node: str, attributes: kube.Attributes) -> None:
    verb, subresource, name = attributes.verb, attributes.subresource, attributes.name
    if verb in _OWN_NODE.get(subresource, ()):  # NodeRestriction looks at its name
        return
    _require(verb in _READS and not subresource)
    subject = f"'{name}'" if name else "all nodes"
    _require(name == node, f"node '{node}' cannot read {subject}, only its own Node object")


# --- Standings ---------------------------------------------------------------
#
# Whether those whose watches are open still are who they were.
#
# Upstream asks once, when a watch begins: it goes on for up to an hour after its token was
# revoked. Here the credentials of open watches are looked at again, all watches of the same
# ones together. As often as upstream looks again at a token that it has remembered
# (k8s.io/apiserver `pkg/authentication/token/cache`, as kube-apiserver sets it).

STANDING_SECONDS: Final = 10.0
"""Between two looks at the same credentials."""


class Standing:
    """Knows whether credentials still hold, for all open watches that show the same ones."""

    def __init__(
        self, authenticate: Callable[[], kube.User | None], seconds: Callable[[], float]
    ) -> None:
        self._authenticate = authenticate
        self._seconds = seconds
        self._looked_at = seconds()
        self._user = authenticate()
        self._holds = self._user is not None

    def holds(self) -> bool:
        """Return whether they still show the same user; once they do not, they never will again."""
        now = self._seconds()
        if self._holds and now - self._looked_at >= STANDING_SECONDS:
            self._looked_at = now
            self._holds = self._authenticate() == self._user
        return self._holds


class Standings:
    """Holds the standings of one server. `seconds` is a clock that never goes back."""

    def __init__(
        self,
        authenticator: Authenticator,
        now: Callable[[], datetime.datetime],
        seconds: Callable[[], float],
    ) -> None:
        self._authenticator = authenticator
        self._now = now
        self._seconds = seconds
        self._open: WeakValueDictionary[Credentials, Standing] = WeakValueDictionary()

    def of(self, credentials: Credentials) -> Standing | None:
        """Return the standing of credentials; None for those who show nothing, and so have nothing
        to lose."""
        if credentials == Credentials():
            return None
        standing = self._open.get(credentials)
        if standing is None or not standing.holds():
            standing = Standing(lambda: self._user(credentials), self._seconds)
            self._open[credentials] = standing
        return standing

    def _user(self, credentials: Credentials) -> kube.User | None:
        return self._authenticator.authenticate(credentials, self._now()).user
