"""Functions that answer reviews, and what is said about them: `@validate` and `@mutate`.

A `Handler` is the function with its place in a configuration. It can still be called as the
function that it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypedDict, Unpack

from celadon import admission
from celadon.admission import Operation
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User, name_rules
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import api_groups, known_resources
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Denials -----------------------------------------------------------------
#
# No, and why: what a handler raises or returns to refuse a request.

REASONS: Final[Mapping[int, str]] = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}
"""What clients of the API read from a Status besides its code."""
LEAST_CODE: Final = 400
MOST_CODE: Final = 599


class Denied(Exception):
    """Refuses a request with this message when it is raised.

    `code` is the HTTP status that the client of the API gets, 400 to 599; `reason` is that of the
    Status, by the code unless it is given; `details` are its details, as in the API (`causes`,
    `retryAfterSeconds`, ...).
    """

    def __init__(
        self, message: str, *, code: int = 403, reason: str = "", details: JsonObject | None = None
    ) -> None:
        if not LEAST_CODE <= code <= MOST_CODE:
            raise ValueError(f"a denial has a code from {LEAST_CODE} to {MOST_CODE}, not {code}")
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason or REASONS.get(code, "")
        self.details = details

    def status(self) -> JsonDict:
        """Return the Status of a response."""
        result: JsonDict = {"status": "Failure", "message": self.message, "code": self.code}
        if self.reason:
            result["reason"] = self.reason
        if self.details:
            result["details"] = dict(self.details)
        return result


# --- Handler requests --------------------------------------------------------
#
# What a handler is asked: one write in the cluster, with everything a review says about it.
#
# Handlers see one version of a kind, that of their rules: an API server converts objects for
# them.

Object = JsonDict
"""A Kubernetes object as JSON: `object["metadata"]["name"]`."""


class NoObject(LookupError):
    """Says that `Request.object` was read of a request that has none."""


@dataclass(slots=True)
class Request:
    """Describes one request that an API server asks about.

    A mutating handler changes `object`, or returns another. `old_object` is what is stored now:
    None for CREATE and CONNECT. `kind` and `resource` are those of the objects here,
    `request_kind` and `request_resource` those that the client used. `name` is empty where the
    API server is still to make one up, `namespace` for cluster-scoped objects.
    """

    uid: str
    operation: Operation
    kind: GroupVersionKind
    resource: GroupVersionResource
    sub_resource: str
    name: str
    namespace: str
    old_object: Object | None
    user: User
    dry_run: bool
    options: Object
    request_kind: GroupVersionKind
    request_resource: GroupVersionResource
    request_sub_resource: str
    given: Object | None = None
    """`object`, where a request need not have one."""
    warnings: list[str] = field(default_factory=list)
    """What the client is shown, whatever the answer: `warn` adds to it."""
    audit_annotations: dict[str, str] = field(default_factory=dict)
    """What goes into the audit log under the name of the webhook: `annotate` adds to it."""

    @property
    def object(self) -> Object:
        """Return the object as it is to be; of CONNECT the options of the connection. Raises
        NoObject for DELETE."""
        if self.given is None:
            text = f"{self.operation.value} has no object, see `old_object`"
            raise NoObject(text)
        return self.given

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the labels of the object, or of the one that is deleted."""
        return self._metadata().get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """Return the annotations of the object, or of the one that is deleted."""
        return self._metadata().get("annotations") or {}

    def warn(self, text: str) -> None:
        """Let the client be shown a warning. Short ones: 120 characters are fine, after 256 the
        API server may cut."""
        self.warnings.append(text)

    def annotate(self, key: str, value: str) -> None:
        """Let the audit log have a value under `<webhook>/<key>`. ValueError for a key that the
        API server would drop."""
        wrong = name_rules.qualified_name(key)
        if wrong or "/" in key:
            reason = wrong[0] if wrong else "must not contain a slash"
            raise ValueError(f"`{key}` is no key of an audit annotation: {reason}")
        self.audit_annotations[key] = value

    def _metadata(self) -> JsonObject:
        document = self.old_object if self.given is None else self.given
        return (document or {}).get("metadata") or {}


def handler_request(request: admission.Request) -> Request:
    """Return the request of a review; the objects stay those of its document."""
    return Request(
        uid=request.uid,
        operation=request.operation,
        kind=request.kind,
        resource=request.resource,
        sub_resource=request.subresource,
        name=request.name,
        namespace=request.namespace,
        old_object=None if request.old_object is None else dict(request.old_object),
        user=request.user,
        dry_run=request.dry_run,
        options=dict(request.options or {}),
        request_kind=request.original_kind,
        request_resource=request.original_resource,
        request_sub_resource=request.original_subresource,
        given=None if request.object is None else dict(request.object),
    )


# --- Handler rules -----------------------------------------------------------
#
# Which requests a handler is for: what a webhook says in its configuration, checked when the
# handler is defined.
#
#     targets("deployments.apps", "pods/exec")     built-in kinds: the version is known
#     targets("widgets.v1.example.com")            others: RESOURCE.VERSION.GROUP, as for kubectl
#     targets("*", groups=["apps"], versions=["*"])
#
# A handler sees one version of a kind unless it asks for several: with `matchPolicy:
# Equivalent` the API server converts what comes in another.

WRITES: Final = ("CREATE", "UPDATE")
_VERSION: Final = late_pattern(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
_ANY: Final = ("*",)


@dataclass(frozen=True, slots=True)
class Targets:
    """Says what of a webhook's configuration is about requests. Selectors are LabelSelectors as in
    the API; `match_conditions` are CEL expressions by name."""

    rules: tuple[JsonObject, ...]
    namespace_selector: JsonObject = field(default_factory=dict)
    object_selector: JsonObject = field(default_factory=dict)
    match_conditions: Mapping[str, str] = field(default_factory=dict)
    match_policy: str = "Equivalent"


def rules_of(
    resources: Sequence[str],
    operations: Iterable[str] = WRITES,
    groups: Sequence[str] = (),
    versions: Sequence[str] = (),
    scope: str = "*",
) -> tuple[JsonObject, ...]:
    """Return a rule for all resources of one group and version. ValueError for a resource of which
    the group and the version are not known."""
    if not resources:
        raise ValueError("say which resources, e.g. 'deployments.apps'")
    verbs = [operation.upper() for operation in operations]
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for resource in resources:
        where, name = _place(resource, tuple(groups), tuple(versions))
        together.setdefault(where, []).append(name)
    return tuple(
        {
            "operations": verbs,
            "apiGroups": list(group),
            "apiVersions": list(version),
            "resources": names,
            "scope": scope,
        }
        for (group, version), names in together.items()
    )


def _place(
    text: str, groups: tuple[str, ...], versions: tuple[str, ...]
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], str]:
    """Return groups and versions, and the resource with its subresource."""
    full, slash, subresource = text.partition("/")
    name, _, rest = full.partition(".")
    name += slash + subresource
    if groups:
        if rest:
            raise ValueError(f"`{text}` names a group, and so does `groups`")
        return (groups, versions or _ANY), name
    version, _, group = rest.partition(".")
    if _VERSION.fullmatch(version):
        return ((group,), (version,)), name
    served_versions = versions or _known_version(name.partition("/")[0], rest)
    if not served_versions:
        raise ValueError(_unknown(text, name, rest, slash + subresource))
    return ((rest,), served_versions), name


def _unknown(text: str, name: str, group: str, below: str) -> str:
    if not group:
        return f"no resource `{text}`: say its group, e.g. '{text}.example.com', or `groups`"
    plain = name.partition("/")[0]
    return f"no version of `{text}` is known: write '{plain}.v1.{group}{below}', or `versions`"


@functools.cache
def _preferred() -> Mapping[str, str]:
    """Return the version of each group that discovery shows first."""
    return {group.name: group.preferred for group in api_groups()}


@functools.lru_cache(maxsize=1024)
def _known_version(name: str, group: str) -> tuple[str, ...]:
    """Return the version of a built-in resource that clients use; empty if it is not known."""
    result = [
        resource.gvr.version
        for resource in known_resources()
        if resource.gvr.group == group and resource.gvr.resource == name
    ]
    preferred = _preferred().get(group, "v1")
    if preferred in result:
        return (preferred,)
    return tuple(result[:1])


Verdict = bool | Denied | None
"""What a validating function returns: false or a denial refuses; nothing is true."""
Change = Object | Denied | None
"""What a mutating function returns: the object to have in place of the request's, or nothing if it
has changed that, or nothing in it."""
Validating = Callable[[Request], Verdict | Awaitable[Verdict]]
Mutating = Callable[[Request], Change | Awaitable[Change]]
DEFAULT_TIMEOUT_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class Handler:
    """Holds a function that answers reviews, whether it may change objects, and how an API server
    is to ask it. `name` is the first part of the webhook's name and the last of its path."""

    function: Callable[[Request], Any]
    name: str
    mutating: bool
    targets: Targets
    failure_policy: str = "Fail"
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    side_effects: str = "None"
    reinvocation_policy: str = "Never"

    @property
    def path(self) -> str:
        """Return where it is asked, below the application."""
        return f"/{'mutate' if self.mutating else 'validate'}/{self.name}"

    @property
    def complaint(self) -> str:
        """Return what a request is refused with for which the function is just false: the first
        line of its docstring."""
        text = inspect.getdoc(self.function) or ""
        return text.partition("\n")[0].rstrip(".")

    @property
    def is_async(self) -> bool:
        """Return whether calling it gives something to await."""
        function = self.function
        while isinstance(function, functools.partial):
            function = function.func
        call = getattr(function, "__call__", None)  # noqa: B004 - of an object with this method
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)

    def __call__(self, request: Request) -> Any:  # noqa: ANN401 - what the function returns
        """Call the function, as if it had not been decorated."""
        return self.function(request)


class About(TypedDict, total=False):
    """Says of a handler what its resources do not.

    `operations` are CREATE and UPDATE unless they are given. `groups` and `versions` are for
    resources that are named without (`*` for all). Selectors are LabelSelectors as in the API;
    `match_conditions` are CEL expressions by name. `name` is the function's name unless it is
    given. Everything is as in a webhook's configuration, and has its default.
    """

    operations: Iterable[str]
    groups: Sequence[str]
    versions: Sequence[str]
    scope: str
    namespace_selector: JsonObject
    object_selector: JsonObject
    match_conditions: Mapping[str, str]
    match_policy: str
    failure_policy: str
    timeout_seconds: int
    side_effects: str
    name: str


class AboutMutating(About, total=False):
    """A mutating handler takes the keywords of `About`, and `reinvocation_policy`, `Never` or
    `IfNeeded`."""

    reinvocation_policy: str


def validate(*resources: str, **about: Unpack[About]) -> Callable[[Validating], Handler]:
    """Let a function decide about requests for these resources: `@validate("deployments.apps")`.

    The function gets a `Request`. It refuses by raising or returning `Denied`, or by returning
    false (the message is then the first line of its docstring). ValueError for resources of which
    the version is not known.
    """
    return _decorator(
        resources, AboutMutating(reinvocation_policy="Never", **about), mutating=False
    )


def mutate(*resources: str, **about: Unpack[AboutMutating]) -> Callable[[Mutating], Handler]:
    """Let a function change the objects of requests: `@mutate("pods")`.

    The function changes `request.object`, or returns another object; the JSON Patch is worked out.
    It may refuse as a validating one does. It can be asked twice about the same request, so a
    second time has to change nothing more.
    """
    return _decorator(resources, about, mutating=True)


def _decorator(
    resources: Sequence[str], about: AboutMutating, *, mutating: bool
) -> Callable[[Callable[[Request], Any]], Handler]:
    targets = Targets(
        rules_of(
            resources,
            about.get("operations", WRITES),
            about.get("groups", ()),
            about.get("versions", ()),
            about.get("scope", "*"),
        ),
        about.get("namespace_selector", {}),
        about.get("object_selector", {}),
        about.get("match_conditions", {}),
        about.get("match_policy", "Equivalent"),
    )

    def decorated(function: Callable[[Request], Any]) -> Handler:
        return Handler(
            function,
            about.get("name") or _name(function),
            mutating,
            targets,
            about.get("failure_policy", "Fail"),
            about.get("timeout_seconds", DEFAULT_TIMEOUT_SECONDS),
            about.get("side_effects", "None"),
            about.get("reinvocation_policy", "Never"),
        )

    return decorated


def _name(function: Callable[[Request], Any]) -> str:
    name = getattr(function, "__name__", "<lambda>")
    if name == "<lambda>":
        raise ValueError("a function without a name needs one: `name=`")
    return str(name).strip("_").replace("_", "-").lower()
