"""What a case expects: a verdict, and as much more as its author wants to be sure of."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from celadon.cel.extend import re2
from celadon.cli.checking.check_report import Place
from celadon.kube import JsonObject
from celadon.records import dataclass


class CaseVerdict(enum.Enum):
    """What becomes of a request, as far as the policies under test are concerned.

    `ADMIT`: they looked at it and have nothing against it. `WARN` and `AUDIT`: it is admitted, and
    something speaks against it, which a client is told of, or only the audit log. `DENY`: an
    expression of theirs refuses it. `ERROR`: they could not be evaluated, whatever follows from
    that. `NO_MATCH`: none of them looked at it. `INVALID`: the API server refuses the request
    before any policy could.
    """

    ADMIT = "admit"
    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    ERROR = "error"
    NO_MATCH = "noMatch"
    INVALID = "invalid"


class How(enum.Enum):
    """How a text is compared. `MATCHES` is a regular expression of RE2, found anywhere."""

    IS = "is"
    CONTAINS = "contains"
    MATCHES = "matches"


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A text that is expected, and where that is written."""

    text: str
    how: How = How.IS
    place: Place = field(default_factory=Place)

    def holds(self, actual: str) -> bool:
        """Whether a text is as expected."""
        match self.how:
            case How.IS:
                return actual == self.text
            case How.CONTAINS:
                return self.text in actual
            case How.MATCHES:
                return re2.compile(self.text).search(actual)

    def __str__(self) -> str:
        return self.text if self.how is How.IS else f"{self.how.value} {self.text}"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a case expects. What is None or empty is not looked at.

    `message` is the policy's own, or the whole sentence of the API server. `validation` is the one
    that decides: its index, or its expression. `violations` is how many validations decide, of
    those that have the message. `warnings` are all that policies give. `object` has
    what must be in the object after it was mutated (null: what must not), `patch` what the mutation
    must come to.
    `because` is the name of a reason for which nothing matches (`vacuities`).
    `snapshot` says that what happens is still to be written down.
    """

    verdict: CaseVerdict
    place: Place = field(default_factory=Place)
    message: TextMatch | None = None
    reason: str = ""
    code: int = 0
    policy: str = ""
    validation: int | str | None = None
    violations: int | None = None
    warnings: tuple[TextMatch, ...] | None = None
    audit_annotations: Mapping[str, TextMatch] = field(default_factory=dict)
    object: JsonObject | None = None
    patch: tuple[Mapping[str, Any], ...] | None = None
    because: str = ""
    snapshot: bool = False
