"""The ways in which a test can be green and mean nothing; docs/testing-policies.md has them all."""

from __future__ import annotations

import enum
from typing import Final

from celadon.cli.check.check_report import Place
from celadon.records import dataclass


class Vacuity(enum.Enum):
    """First why a policy did not look at a request, then what else may be the matter."""

    RESOURCE = "resource"
    GROUP = "group"
    VERSION = "version"
    OPERATION = "operation"
    SUBRESOURCE = "subresource"
    SCOPE = "scope"
    RESOURCE_NAME = "resource-name"
    EXCLUDED = "excluded"
    NAMESPACE_SELECTOR = "namespace-selector"
    OBJECT_SELECTOR = "object-selector"
    CONDITION_FALSE = "condition-false"
    EXEMPT_USER = "exempt-user"
    DRY_RUN = "dry-run"
    PARAM_NOT_FOUND = "param-not-found"
    NO_BINDING = "no-binding"
    STRAY_BINDING = "stray-binding"
    EXEMPT_RESOURCE = "exempt-resource"

    REFUSED_BEFORE = "refused-before"
    DENIED_BY_ANOTHER = "denied-by-another"
    ERROR_IGNORED = "error-ignored"
    ERROR_NOT_DENIAL = "error-not-denial"
    ONLY_AUDITS = "only-audits"
    ONLY_WARNS = "only-warns"
    NOT_SERVED = "not-served"
    TRUE_BEFORE = "true-before"
    OTHER_REASON = "other-reason"
    ANY_TEXT = "any-text"

    ANY_DENIAL = "any-denial"
    CHANGE_UNSEEN = "change-unseen"
    NOTHING_CHANGES = "nothing-changes"
    NO_VALIDATION = "no-validation"
    NULL_PARAMS = "null-params"
    UNKNOWN_KIND = "unknown-kind"
    NAMESPACE_ASSUMED = "namespace-assumed"
    BINDING_ASSUMED = "binding-assumed"
    SAME_CASE = "same-case"
    NEVER_REACHED = "never-reached"
    NEVER_SPEAKS = "never-speaks"
    NEVER_CONTENT = "never-content"


UNMATCHED: Final = (
    Vacuity.RESOURCE,
    Vacuity.GROUP,
    Vacuity.VERSION,
    Vacuity.OPERATION,
    Vacuity.SUBRESOURCE,
    Vacuity.SCOPE,
    Vacuity.RESOURCE_NAME,
    Vacuity.EXCLUDED,
    Vacuity.NAMESPACE_SELECTOR,
    Vacuity.OBJECT_SELECTOR,
    Vacuity.CONDITION_FALSE,
    Vacuity.EXEMPT_USER,
    Vacuity.DRY_RUN,
    Vacuity.PARAM_NOT_FOUND,
    Vacuity.EXEMPT_RESOURCE,
)
"""Reasons for which a policy may be meant not to look at a request."""

POINTED_OUT: Final = frozenset(
    {
        Vacuity.ANY_DENIAL,
        Vacuity.CHANGE_UNSEEN,
        Vacuity.NOTHING_CHANGES,
        Vacuity.NO_VALIDATION,
        Vacuity.NULL_PARAMS,
        Vacuity.UNKNOWN_KIND,
        Vacuity.NAMESPACE_ASSUMED,
        Vacuity.BINDING_ASSUMED,
        Vacuity.SAME_CASE,
        Vacuity.NEVER_REACHED,
        Vacuity.NEVER_SPEAKS,
        Vacuity.NEVER_CONTENT,
    }
)
"""What fails a case only where somebody is strict; all others fail it, or say why it failed."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """This is why a case means nothing, or less than it seems, and what is to be looked at."""

    vacuity: Vacuity
    text: str
    place: Place
    help: str = ""

    @property
    def is_fatal(self) -> bool:
        """Return whether the case fails because of it, even if all is as expected."""
        return self.vacuity not in POINTED_OUT
