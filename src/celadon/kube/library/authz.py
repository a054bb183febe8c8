"""`kubernetes.authz` and `kubernetes.authzSelectors`: asking what a user may do.

Upstream: k8s.io/apiserver `pkg/cel/library/authz.go`. `authorizer.group('apps')
.resource('deployments').namespace('test').check('create').allowed()` builds up what is asked; only
`check` asks, through the `AuthorizerBackend` that whoever made the `Authorizer` value provided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.cel import extend
from celadon.cel.value_functions import shown_size
from celadon.kube import authorization, name_rules
from celadon.kube.go.go_text import trim_space
from celadon.kube.library import costs
from celadon.kube.library.costs import declared, overloaded
from celadon.kube.selectors import SelectorError, parse_field_selector, parse_label_selector

#: An authorization check: two fit in the limit of one expression, three do not.
AUTHORIZATION_CHECK_COST: Final = 350_000

#: The shortest requirement that takes memory is two characters, `k,`; it is a list and a struct.
_CHARACTERS_PER_REQUIREMENT: Final = 2
_REQUIREMENT_COST: Final = extend.cost_rules.LIST_CREATE_COST + extend.cost_rules.STRUCT_CREATE_COST


class _Receiver(extend.Opaque):
    """A value that has methods and nothing else: no equality, no Go value inside."""

    __slots__ = ()

    def reopened(self) -> extend.EvaluationError:
        """Return an error, as a value."""
        return extend.no_such_overload()


class Authorizer(_Receiver):
    """Is the variable `authorizer`: a user and who decides about it."""

    __slots__ = ("backend", "user")
    cel_type = costs.AUTHORIZER
    go_name = "library.authorizerVal"

    def __init__(self, user: authorization.User, backend: authorization.AuthorizerBackend) -> None:
        self.user = user
        self.backend = backend

    def check(self, attributes: authorization.Attributes) -> Decision:
        """Return the ruling on one question."""
        ruling, reason, error = self.backend.authorize(attributes)
        return Decision(ruling, reason, error)

    def request_resource(
        self, group: str, resource: str, subresource: str, namespace: str, name: str
    ) -> ResourceCheck:
        """Return the variable `authorizer.requestResource`."""
        attributes = authorization.Attributes(
            self.user,
            "",
            resource_request=True,
            group=group,
            version=authorization.ANY_VERSION,
            resource=resource,
            subresource=subresource,
            namespace=namespace,
            name=name,
        )
        return ResourceCheck(self, attributes)


class PathCheck(_Receiver):
    """Asks by `authorizer.path(...)` about a path that is no resource."""

    __slots__ = ("authorizer", "path")
    cel_type = costs.PATH_CHECK
    go_name = "library.pathCheckVal"

    def __init__(self, authorizer: Authorizer, path: str) -> None:
        self.authorizer = authorizer
        self.path = path


class GroupCheck(_Receiver):
    """Begins by `authorizer.group(...)` a question about a resource."""

    __slots__ = ("authorizer", "group")
    cel_type = costs.GROUP_CHECK
    go_name = "library.groupCheckVal"

    def __init__(self, authorizer: Authorizer, group: str) -> None:
        self.authorizer = authorizer
        self.group = group


class ResourceCheck(_Receiver):
    """Asks about a resource. `asked` has no verb yet, and no selectors: they are read when `check`
    is called."""

    __slots__ = ("asked", "authorizer", "field_selector", "label_selector")
    cel_type = costs.RESOURCE_CHECK
    go_name = "library.resourceCheckVal"

    def __init__(
        self,
        authorizer: Authorizer,
        attributes: authorization.Attributes,
        field_selector: str = "",
        label_selector: str = "",
    ) -> None:
        self.authorizer = authorizer
        self.asked = attributes
        self.field_selector = field_selector
        self.label_selector = label_selector


class Decision(_Receiver):
    """Holds what `check(...)` gives: the ruling, or the error that kept it from being made."""

    __slots__ = ("error", "reason", "ruling")
    cel_type = costs.DECISION
    go_name = "library.decisionVal"

    def __init__(self, ruling: authorization.Ruling, reason: str, error: str | None) -> None:
        self.ruling = ruling
        self.reason = reason
        self.error = error


def _path(authorizer: Authorizer, path: str) -> PathCheck:
    if not trim_space(path):
        raise extend.EvaluationError("path must not be empty")
    return PathCheck(authorizer, path)


def _group(authorizer: Authorizer, group: str) -> GroupCheck:
    return GroupCheck(authorizer, group)


def _service_account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    if name_rules.dns1123_subdomain(name):
        raise extend.EvaluationError("Invalid service account name")
    if name_rules.dns1123_label(namespace):
        raise extend.EvaluationError("Invalid service account namespace")
    return Authorizer(authorization.service_account_user(namespace, name), authorizer.backend)


def _resource(group_check: GroupCheck, resource: str) -> ResourceCheck:
    if not trim_space(resource):
        raise extend.EvaluationError("resource must not be empty")
    return group_check.authorizer.request_resource(group_check.group, resource, "", "", "")


def _with(check: ResourceCheck, attributes: authorization.Attributes) -> ResourceCheck:
    return ResourceCheck(check.authorizer, attributes, check.field_selector, check.label_selector)


def _subresource(check: ResourceCheck, subresource: str) -> ResourceCheck:
    return _with(check, replace(check.asked, subresource=subresource))


def _namespace(check: ResourceCheck, namespace: str) -> ResourceCheck:
    return _with(check, replace(check.asked, namespace=namespace))


def _name(check: ResourceCheck, name: str) -> ResourceCheck:
    return _with(check, replace(check.asked, name=name))


def _field_selector(check: ResourceCheck, selector: str) -> ResourceCheck:
    return ResourceCheck(check.authorizer, check.asked, selector, check.label_selector)


def _label_selector(check: ResourceCheck, selector: str) -> ResourceCheck:
    return ResourceCheck(check.authorizer, check.asked, check.field_selector, selector)


def _check_path(check: PathCheck, verb: str) -> Decision:
    return check.authorizer.check(
        authorization.Attributes(check.authorizer.user, verb, path=check.path)
    )


def _check_resource(check: ResourceCheck, verb: str) -> Decision:
    attributes = replace(check.asked, verb=verb)
    if check.field_selector:
        try:
            attributes = replace(
                attributes, field_selector=parse_field_selector(check.field_selector)
            )
        except SelectorError as error:
            attributes = replace(attributes, field_selector_error=str(error))
    if check.label_selector:
        try:
            attributes = replace(
                attributes, label_selector=parse_label_selector(check.label_selector)
            )
        except SelectorError as error:
            attributes = replace(attributes, label_selector_error=str(error))
    return check.authorizer.check(attributes)


def _allowed(decision: Decision) -> bool:
    return decision.ruling is authorization.Ruling.ALLOW


def _reason(decision: Decision) -> str:
    return decision.reason


def _errored(decision: Decision) -> bool:
    return decision.error is not None


def _error(decision: Decision) -> str:
    return decision.error or ""


def _track_selector(args: Sequence[Any], result: object) -> int:
    length = shown_size(args[1])
    requirements = extend.cost_rules.ceil_div(length, _CHARACTERS_PER_REQUIREMENT)
    return (
        extend.cost_rules.LIST_CREATE_COST
        + extend.cost_rules.traversal(length)
        + requirements * _REQUIREMENT_COST
    )


def _estimate_selector(args: Sequence[extend.Sized]) -> extend.CallEstimate:
    length = args[1].size
    requirements = length.divided(_CHARACTERS_PER_REQUIREMENT).times(
        extend.cost_rules.fixed(_REQUIREMENT_COST)
    )
    cost = (
        extend.cost_rules.fixed(extend.cost_rules.LIST_CREATE_COST)
        .plus(length.divided(extend.cost_rules.TRAVERSAL_DIVISOR))
        .plus(requirements)
    )
    return extend.CallEstimate(cost)


def _bound_selector(check: extend.Argument, selector: extend.Argument) -> extend.Polynomial:
    size = selector.size
    return size * (0.1 + _REQUIREMENT_COST / _CHARACTERS_PER_REQUIREMENT) + 2 * _REQUIREMENT_COST


_SELECTOR_COST: Final = extend.CostRule(_track_selector, _estimate_selector, bound=_bound_selector)


def _builder(
    signature: str,
    overload_id: str,
    impl: Callable[..., extend.Opaque],
    doc: str,
    cost: extend.CostRule | None = None,
) -> extend.Function:
    """Return a method whose result counts for one."""
    return declared(signature, overload_id, impl, doc, cost=cost, growth=extend.growth.single)


_CHECK: Final = overloaded(
    declared(
        "PathCheck.check(string) -> Decision",
        "pathcheck_check",
        _check_path,
        "Asks whether the user may do this to the path.",
        growth=extend.growth.single,
    ),
    declared(
        "ResourceCheck.check(string) -> Decision",
        "resourcecheck_check",
        _check_resource,
        "Asks whether the user may do this to the resource.",
        growth=extend.growth.single,
    ),
    cost=extend.cost_rules.constant(AUTHORIZATION_CHECK_COST),
)

_BUILDERS: Final = (
    _builder(
        "Authorizer.path(string) -> PathCheck",
        "authorizer_path",
        _path,
        "A check of a path that is no resource.",
    ),
    _builder(
        "Authorizer.group(string) -> GroupCheck",
        "authorizer_group",
        _group,
        "The beginning of a check of a resource; the core group is the empty text.",
    ),
    _builder(
        "Authorizer.serviceAccount(string, string) -> Authorizer",
        "authorizer_serviceaccount",
        _service_account,
        "The authorizer of another user: a service account, by namespace and name.",
    ),
    _builder(
        "GroupCheck.resource(string) -> ResourceCheck",
        "groupcheck_resource",
        _resource,
        "A check of a resource.",
    ),
    _builder(
        "ResourceCheck.subresource(string) -> ResourceCheck",
        "resourcecheck_subresource",
        _subresource,
        "The same check of a subresource.",
    ),
    _builder(
        "ResourceCheck.namespace(string) -> ResourceCheck",
        "resourcecheck_namespace",
        _namespace,
        "The same check in a namespace; the empty text means all.",
    ),
    _builder(
        "ResourceCheck.name(string) -> ResourceCheck",
        "resourcecheck_name",
        _name,
        "The same check of one object.",
    ),
)

_ACCESSORS: Final = (
    declared(
        "Decision.errored() -> bool", "decision_errored", _errored, "Whether there was an error."
    ),
    declared(
        "Decision.error() -> string",
        "decision_error",
        _error,
        "The error's text, empty if there was none.",
    ),
    declared(
        "Decision.allowed() -> bool", "decision_allowed", _allowed, "Whether the user may do it."
    ),
    declared(
        "Decision.reason() -> string", "decision_reason", _reason, "Why, in the authorizer's words."
    ),
)

LIBRARY: Final = extend.Library("kubernetes.authz", functions=(*_BUILDERS, _CHECK, *_ACCESSORS))

SELECTORS_LIBRARY: Final = extend.Library(
    "kubernetes.authzSelectors",
    functions=(
        _builder(
            "ResourceCheck.fieldSelector(string) -> ResourceCheck",
            "authorizer_fieldselector",
            _field_selector,
            "The same check limited by a field selector.",
            _SELECTOR_COST,
        ),
        _builder(
            "ResourceCheck.labelSelector(string) -> ResourceCheck",
            "authorizer_labelselector",
            _label_selector,
            "The same check limited by a label selector.",
            _SELECTOR_COST,
        ),
    ),
)
