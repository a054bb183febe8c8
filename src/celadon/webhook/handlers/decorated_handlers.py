"""Functions that answer reviews, and what is said about them: `@validate` and `@mutate`.

A `Handler` is the function with its place in a configuration. It can still be called as the
function that it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypedDict, Unpack

from celadon.records import dataclass
from celadon.webhook.handlers.denials import Denied
from celadon.webhook.handlers.handler_requests import Object, Request
from celadon.webhook.handlers.handler_rules import WRITES, Targets, rules_of

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
    """A function, whether it may change objects, and how an API server is to ask it. `name` is
    the first part of the webhook's name and the last of its path."""

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
        """Where it is asked, below the application."""
        return f"/{'mutate' if self.mutating else 'validate'}/{self.name}"

    @property
    def complaint(self) -> str:
        """What a request is refused with for which the function is just false: the first line of
        its docstring."""
        text = inspect.getdoc(self.function) or ""
        return text.partition("\n")[0].rstrip(".")

    @property
    def is_async(self) -> bool:
        """Whether calling it gives something to await."""
        function = self.function
        while isinstance(function, functools.partial):
            function = function.func
        call = getattr(function, "__call__", None)  # noqa: B004 - of an object with this method
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)

    def __call__(self, request: Request) -> Any:  # noqa: ANN401 - what the function returns
        """Call the function, as if it had not been decorated."""
        return self.function(request)


class About(TypedDict, total=False):
    """What is said about a handler, besides its resources.

    `operations` are CREATE and UPDATE unless they are given. `groups` and `versions` are for
    resources that are named without (`*` for all). Selectors are LabelSelectors as in the API;
    `match_conditions` are CEL expressions by name. `name` is the function's name unless it is
    given. Everything is as in a webhook's configuration, and has its default.
    """

    operations: Iterable[str]
    groups: Sequence[str]
    versions: Sequence[str]
    scope: str
    namespace_selector: Mapping[str, Any]
    object_selector: Mapping[str, Any]
    match_conditions: Mapping[str, str]
    match_policy: str
    failure_policy: str
    timeout_seconds: int
    side_effects: str
    name: str


class AboutMutating(About, total=False):
    """As `About`; `reinvocation_policy` is `Never` or `IfNeeded`."""

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
    found = getattr(function, "__name__", "<lambda>")
    if found == "<lambda>":
        raise ValueError("a function without a name needs one: `name=`")
    return str(found).strip("_").replace("_", "-").lower()
