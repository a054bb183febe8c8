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
from typing import Final
from weakref import WeakValueDictionary

from celadon import kube
from celadon.apiserver.authn.authentication import Authenticator, Credentials
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import COLLECTION_VERBS, RequestInfo
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.rbac import aggregated
from celadon.kube.selectors import SelectorError, parse_field_selector, parse_label_selector
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
