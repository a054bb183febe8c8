"""Acting as somebody else: what the headers ask for, and whether the user may.

Theory of operation. There are five modes. The four constrained ones ask for two rights: to do this
very thing while impersonating (`impersonate-on:MODE:VERB` on what the request is about), and to
impersonate this identity (`impersonate:MODE` on user, node or service account, uid, groups and
extra). The last is the old one: `impersonate` on all of them. The first mode that allows wins; if
none does, the first refusal is the answer. Which mode worked last for a user is remembered and
tried first, so its refusals are then the ones that are seen. Where the feature gate
`ConstrainedImpersonation` is off (by default before 1.36), there is the old mode alone.

As k8s.io/apiserver `pkg/endpoints/filters/impersonation`, without its caches of successes: a right
that is withdrawn is gone at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from celadon.apiserver.authn import identities
from celadon.apiserver.authz.authorizer_chain import forbidden
from celadon.apiserver.http_messages import HttpRequest
from celadon.kube import (
    MASTERS,
    Attributes,
    AuthorizerBackend,
    FieldError,
    FieldPath,
    Ruling,
    StatusError,
    User,
    fieldpath,
    name_rules,
    status,
    well_known_values,
)
from celadon.kube.go import quote
from celadon.kube.rbac import service_account_of, service_account_user
from celadon.kube.validation import http_path
from celadon.records import dataclass, replace

USER_HEADER: Final = "impersonate-user"
UID_HEADER: Final = "impersonate-uid"
GROUP_HEADER: Final = "impersonate-group"
EXTRA_HEADER: Final = "impersonate-extra-"
GATE: Final = "ConstrainedImpersonation"
HEADERS_BEGIN: Final = "impersonate-"
"""As all of them do."""

REMEMBERED_USERS: Final = 10_000
"""Of how many users the last successful mode is remembered."""

MANY: Final = 4
"""From so many groups or values of extra on, the right to all of them is asked for first."""

_EXTRA_KEY: Final = FieldPath("extra").child("key")


@dataclass(frozen=True, slots=True)
class Impersonated:
    """Says whom a request acts as; `constraint` names the mode for the audit event, empty for the
    old one."""

    user: User
    constraint: str = ""


def wanted_user(request: HttpRequest, *, constrained: bool = True) -> User | None:
    """Return the user whom the headers name, as they name them; None without such headers. Raises
    StatusError (400) for headers that do not name a user, in the words of a server whose rights are
    `constrained` or not."""
    if not request.may_name(HEADERS_BEGIN):
        return None
    extra: dict[str, list[str]] = {}
    for name, value in request.headers:
        if name.startswith(EXTRA_HEADER):
            extra.setdefault(identities.extra_key(name.removeprefix(EXTRA_HEADER)), []).append(
                value
            )
    groups = tuple(request.header_values(GROUP_HEADER))
    user = User(request.header(USER_HEADER), groups, request.header(UID_HEADER), extra)
    if user.name:
        return user
    if user.groups or user.uid or user.extra:
        raise _nobody(user, constrained=constrained)
    return None


class UserNotNamed(StatusError):
    """Groups, a UID or more are wanted, and no user is named: before 1.35, the answer to that was
    no Status."""


def _nobody(user: User, *, constrained: bool) -> UserNotNamed:
    """Return what becomes of a request that wants groups, a UID or more, and names no user."""
    detail = f"requested [{' '.join(_references(user))}] without impersonating a user"
    if constrained:
        detail = f"requested {_go_text(user)} without impersonating a user name"
    return UserNotNamed(status.bad_request(detail).status)


def _references(user: User) -> Iterator[str]:
    """Yield what is wanted, as Go's `%v` of object references: kind, namespace, name, UID, API
    version, resource version and path."""
    version = f"{well_known_values.AUTHENTICATION_GROUP}/v1"
    for group in user.groups:
        yield f"{{Group  {group}    }}"
    for key, values in user.extra.items():
        yield from (f"{{UserExtra  {value}  {version}  {key}}}" for value in values)
    if user.uid:
        yield f"{{UID  {user.uid}  {version}  }}"


# Upstream prints the user with `%#v` where modes are constrained, so the text has the names of Go's
# struct and tells nil maps from empty ones.
def _go_text(user: User) -> str:
    """Return Go's `%#v` of a user."""
    extra = ", ".join(f"{quote(key)}:{_go_list(user.extra[key])}" for key in sorted(user.extra))
    text = f"{{{extra}}}" if user.extra else "(nil)"
    return (
        f"&user.DefaultInfo{{Name:{quote(user.name)}, UID:{quote(user.uid)}, "
        f"Groups:{_go_list(user.groups)}, Extra:map[string][]string{text}}}"
    )


def _go_list(texts: Sequence[str]) -> str:
    return f"[]string{{{', '.join(map(quote, texts))}}}" if texts else "[]string(nil)"


@dataclass(frozen=True, slots=True)
class _Mode:
    """Describes one way in which impersonation may be allowed. `constrained` is empty for the old
    mode; `suits` says for whom a mode is there at all."""

    constrained: str
    suits: Callable[[User, User], bool]

    @property
    def verb(self) -> str:
        return f"impersonate:{self.constrained}" if self.constrained else "impersonate"

    @property
    def identity_group(self) -> str:
        """Return the API group of users, groups, nodes and service accounts in this mode."""
        return well_known_values.AUTHENTICATION_GROUP if self.constrained else ""


def _only_name(user: User) -> bool:
    return not (user.uid or user.groups or user.extra)


def _is_own_node(user: User, requestor: User) -> bool:
    """Return whether this is the node on which the asking service account's pod runs."""
    node = identities.node_of(user.name)
    if not _only_name(user) or node is None or service_account_of(requestor.name) is None:
        return False
    return list(requestor.extra.get(identities.NODE_NAME, ())) == [node]


def _is_node(user: User, _: User) -> bool:
    return _only_name(user) and identities.node_of(user.name) is not None


def _is_service_account(user: User, _: User) -> bool:
    return _only_name(user) and service_account_of(user.name) is not None


def _is_other_user(user: User, _: User) -> bool:
    return identities.node_of(user.name) is None and service_account_of(user.name) is None


OLD: Final = _Mode("", lambda _wanted, _requestor: True)
ASSOCIATED_NODE: Final = _Mode("associated-node", _is_own_node)
# Upstream's order (`mode.go`, `allImpersonationModes`): the narrower a mode is, the earlier it is
# tried, and the old one, which suits everybody, comes last.
MODES: Final = (
    ASSOCIATED_NODE,
    _Mode("arbitrary-node", _is_node),
    _Mode("serviceaccount", _is_service_account),
    _Mode("user-info", _is_other_user),
    OLD,
)


# Modes cost up to seven questions of the authorizer. Who impersonates does so with every request
# and in the same way, so the mode that worked last is tried first; it is a guess only, for it is
# asked anew each time (`cache.go`, with as many users).
class Impersonation:
    """Decides, and remembers which mode worked last for whom. Unless it is `constrained`, there is
    the old mode alone."""

    def __init__(self, authorizer: AuthorizerBackend, *, constrained: bool = True) -> None:
        self.constrained = constrained
        self._authorizer = authorizer
        self._last: OrderedDict[str, _Mode] = OrderedDict()

    def impersonate(self, wanted_user: User, attributes: Attributes) -> Impersonated:
        """`attributes` are those of the request, with the user who makes it. Raises StatusError
        (403)."""
        if not self.constrained:
            check = _Check(OLD, attributes, self._authorizer, uid_comes_last=True)
            return Impersonated(check.impersonated(wanted_user))
        requestor = attributes.user
        last = self._last.get(requestor.name)
        first = () if last is None else (last,)
        refusal: StatusError | None = None
        for mode in (*first, *(mode for mode in MODES if mode is not last)):
            if not mode.suits(wanted_user, requestor):
                continue
            try:
                user = _Check(mode, attributes, self._authorizer).impersonated(wanted_user)
            except StatusError as error:
                refusal = refusal or error
                continue
            self._remember(requestor.name, mode)
            return Impersonated(user, mode.verb if mode.constrained else "")
        assert refusal is not None, "the old mode suits everybody"
        raise StatusError(refusal.status)

    def _remember(self, name: str, mode: _Mode) -> None:
        self._last.pop(name, None)
        self._last[name] = mode
        if len(self._last) > REMEMBERED_USERS:
            self._last.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Check:
    """One mode, asked about one request. `uid_comes_last` is the order of servers that have no
    modes."""

    mode: _Mode
    attributes: Attributes
    authorizer: AuthorizerBackend
    uid_comes_last: bool = False

    def impersonated(self, wanted_user: User) -> User:
        """Return the user that the request acts as, if all questions are answered with yes. Raises
        StatusError (403)."""
        mode = self.mode
        if mode.constrained:
            verb = f"impersonate-on:{mode.constrained}:{self.attributes.verb}"
            self._ask(replace(self.attributes, verb=verb))
        user = self._named(wanted_user)
        if not self.uid_comes_last:
            self._check_uid(wanted_user.uid)
        if wanted_user.groups:
            self._check_groups(wanted_user.groups)
        if wanted_user.extra:
            self._check_extra(wanted_user.extra)
        if self.uid_comes_last:
            self._check_uid(wanted_user.uid)
        if user.name == well_known_values.ANONYMOUS:
            return identities.with_group(user, well_known_values.UNAUTHENTICATED)
        return (
            user
            if well_known_values.UNAUTHENTICATED in user.groups
            else identities.with_group(user, well_known_values.AUTHENTICATED)
        )

    def _about(self, resource: str, name: str, group: str) -> Attributes:
        return Attributes(
            self.attributes.user,
            self.mode.verb,
            resource_request=True,
            group=group,
            version="v1",
            resource=resource,
            name=name,
        )

    def _ask(self, attributes: Attributes) -> None:
        if self.mode is ASSOCIATED_NODE:
            attributes = _for_any_node(attributes)
        ruling, reason, error = self.authorizer.authorize(attributes)
        if ruling is not Ruling.ALLOW:
            raise forbidden(attributes, ": ".join(part for part in (error, reason) if part))

    def _named(self, wanted_user: User) -> User:
        """Ask whether this name may be impersonated; return the user with the groups that nodes and
        service accounts have. Raises StatusError (403)."""
        attributes = self._about("users", wanted_user.name, self.mode.identity_group)
        user = wanted_user
        node = identities.node_of(wanted_user.name) if self.mode.constrained else None
        account = service_account_of(wanted_user.name)
        if node is not None:
            attributes = replace(attributes, resource="nodes", name=node)
            user = replace(user, groups=(well_known_values.NODE_GROUP,))
        if account is not None:
            namespace, name = account
            attributes = replace(
                attributes, resource="serviceaccounts", namespace=namespace, name=name
            )
            if not wanted_user.groups:
                user = replace(user, groups=service_account_user(namespace, name).groups)
        self._ask(attributes)
        return user

    def _check_uid(self, uid: str) -> None:
        if uid:
            self._ask(self._about("uids", uid, well_known_values.AUTHENTICATION_GROUP))

    # As `authorizeGroups` of `mode.go`. The old mode lets anybody become `system:masters` who may
    # impersonate that group; the constrained ones never do.
    def _check_groups(self, groups: Sequence[str]) -> None:
        attributes = self._about("groups", "", self.mode.identity_group)
        if self.mode.constrained:
            if "" in groups:
                raise forbidden(attributes, "impersonating the empty string group is not allowed")
            if MASTERS in groups:
                named = replace(attributes, name=MASTERS)
                raise forbidden(named, "impersonating the system:masters group is not allowed")
            if len(groups) >= MANY and self._may(replace(attributes, name="*")):
                return
        for group in groups:
            self._ask(replace(attributes, name=group))

    def _check_extra(self, extra: Mapping[str, Sequence[str]]) -> None:
        attributes = self._about("userextras", "", well_known_values.AUTHENTICATION_GROUP)
        if self.mode.constrained:
            problem = next(filter(None, (_extra_problem(*item) for item in extra.items())), "")
            if problem:
                raise forbidden(attributes, problem)
            many = len(extra) >= MANY or sum(map(len, extra.values())) >= MANY
            if many and self._may(replace(attributes, subresource="*", name="*")):
                return
        for key, values in extra.items():
            for value in values:
                self._ask(replace(attributes, subresource=key, name=value))

    def _may(self, attributes: Attributes) -> bool:
        return self.authorizer.authorize(attributes)[0] is Ruling.ALLOW


# As `associatedNodeImpersonationMode` of `mode.go`: the authorizer is asked about no node at all,
# so that one answer holds for all pods of a DaemonSet, whichever nodes they run on.
def _for_any_node(attributes: Attributes) -> Attributes:
    """Return the attributes for any node: a service account's right to its own node does not depend
    on which that is."""
    keys = tuple(sorted(attributes.user.extra))
    user = replace(attributes.user, extra={identities.EXTRA_PREFIX + "associated-node-keys": keys})
    name = "*" if attributes.verb == ASSOCIATED_NODE.verb else attributes.name
    return replace(attributes, user=user, name=name)


def _extra_problem(key: str, values: Sequence[str]) -> str:
    """Return what is wrong with a key or its values, which the old mode lets pass; empty if nothing
    is."""
    if not key:
        return "impersonating the empty string key in extra is not allowed"
    errors = _path_errors(key)
    if errors:
        aggregate = fieldpath.aggregate(errors)
        return f"impersonating an invalid key in extra is not allowed: {aggregate}"
    if key != key.lower():
        return f"impersonating a non-lowercase key in extra is not allowed: {quote(key)}"
    if not values:
        return "impersonating empty values in extra is not allowed"
    if "" in values:
        return "impersonating the empty string value in extra is not allowed"
    return ""


def _path_errors(key: str) -> list[FieldError]:
    """Return what keeps a key from being a path that begins with a domain."""
    domain, _, path = key.partition("/")
    if not domain or not path:
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        return [fieldpath.invalid(_EXTRA_KEY, key, detail)]
    messages = name_rules.dns1123_subdomain(domain)
    errors = [fieldpath.invalid(_EXTRA_KEY, domain, message) for message in messages]
    errors += [fieldpath.invalid(_EXTRA_KEY, path, message) for message in http_path(path)]
    return errors
