"""What releases of Kubernetes say differently: texts that changed, and rules that came later.

A `Wording` stands where the text would: its newest form, and before which release it read how.
`since` stands above a function that tells what is wrong, or remarkable, with an object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Final, ParamSpec, TypeVar

from celadon.kube.releases import is_since
from celadon.records import dataclass

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as the newest release says it. `until` names releases in ascending order, each with
    what was said before it."""

    latest: str
    until: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """Return what the current release says."""
        for release, text in self.until:
            if not is_since(release):
                return text
        return self.latest


def wording(latest: str, **until: str) -> Wording:
    """`wording("must not be empty", v1_34="uid must not be empty")`: the second until 1.34."""
    releases = ((name.removeprefix("v").replace("_", "."), text) for name, text in until.items())
    return Wording(latest, tuple(releases))


def since(release: str) -> Callable[[Callable[P, Iterator[R]]], Callable[P, Iterator[R]]]:
    """Decorates a rule that came in a release: those before find nothing."""

    def decorate(rule: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
        @functools.wraps(rule)
        def asked(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
            return rule(*args, **kwargs) if is_since(release) else iter(())

        return asked

    return decorate


def until(release: str) -> Callable[[Callable[P, Iterator[R]]], Callable[P, Iterator[R]]]:
    """Decorates a rule that went with a release: that one and those after it find nothing."""

    def decorate(rule: Callable[P, Iterator[R]]) -> Callable[P, Iterator[R]]:
        @functools.wraps(rule)
        def asked(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
            return iter(()) if is_since(release) else rule(*args, **kwargs)

        return asked

    return decorate


UNIT_OF_NAMES: Final = wording("bytes", v1_35="characters")
"""What the lengths of labels and their keys are counted in, in texts."""

MESSAGE_BLANK: Final = wording(
    "must be non-empty if specified", v1_34="message must be non-empty if specified"
)
MESSAGE_BROKEN: Final = wording(
    "must not contain line breaks", v1_34="message must not contain line breaks"
)
"""What is wrong with the message of a rule."""
