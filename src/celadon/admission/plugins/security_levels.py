"""Levels and versions of the Pod Security Standards, and what the labels of a namespace choose.

As k8s.io/pod-security-admission `api`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube import FieldError, FieldPath, fieldpath
from celadon.patterns import late_pattern
from celadon.records import dataclass

PRIVILEGED: Final = "privileged"
BASELINE: Final = "baseline"
RESTRICTED: Final = "restricted"
LEVELS: Final = (PRIVILEGED, BASELINE, RESTRICTED)
"""From the one that allows everything to the strictest."""

PREFIX: Final = "pod-security.kubernetes.io/"
"""Of the labels of namespaces, and of audit annotations."""
MODES: Final = ("enforce", "audit", "warn")

LATEST: Final = "latest"
_VERSION: Final = late_pattern(r"v1\.(0|[1-9][0-9]*)")
_LABELS: Final = FieldPath("metadata", "labels")


@dataclass(frozen=True, slots=True)
class LevelVersion:
    """`minor` is that of the release whose checks are meant; None is the latest."""

    level: str = PRIVILEGED
    minor: int | None = None

    def __str__(self) -> str:
        version = "latest" if self.minor is None else f"v1.{self.minor}"
        return f"{self.level}:{version}"


@dataclass(frozen=True, slots=True)
class SecurityPolicy:
    """This is what is refused, what is noted in the audit log, and what is warned of."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()


UNLABELLED: Final = SecurityPolicy()


def policy_of(
    labels: Mapping[str, str], defaults: SecurityPolicy = UNLABELLED
) -> tuple[SecurityPolicy, list[FieldError]]:
    """Return what the labels of a namespace choose, and what is wrong with them; `defaults` hold
    for what they do not say. A wrong level stands for the strictest where it is enforced, and for
    none elsewhere; a wrong version for the latest."""
    if not any(label.startswith(PREFIX) for label in labels):
        return defaults, []
    errors: list[FieldError] = []
    found = {}
    untold = {"enforce": defaults.enforce, "audit": defaults.audit, "warn": defaults.warn}
    for mode in MODES:
        wrong = RESTRICTED if mode == "enforce" else PRIVILEGED
        level = _level(labels, mode, (untold[mode].level, wrong), errors)
        found[mode] = LevelVersion(level, _minor(labels, mode, untold[mode].minor, errors))
    return SecurityPolicy(found["enforce"], found["audit"], found["warn"]), errors


def _level(
    labels: Mapping[str, str], mode: str, otherwise: tuple[str, str], errors: list[FieldError]
) -> str:
    """`otherwise` are the levels that stand for none and for a wrong one."""
    label, (untold, wrong) = PREFIX + mode, otherwise
    given = labels.get(label, untold)
    why = level_error(given)
    if why:
        errors.append(fieldpath.invalid(_LABELS.key(label), given, why))
        return wrong
    return given


def _minor(
    labels: Mapping[str, str], mode: str, untold: int | None, errors: list[FieldError]
) -> int | None:
    label = f"{PREFIX}{mode}-version"
    if label not in labels:
        return untold
    given = labels[label]
    why = version_error(given)
    if why:
        errors.append(fieldpath.invalid(_LABELS.key(label), given, why))
    return minor_of(given)


def level_error(text: str) -> str:
    """Return what is wrong with the name of a level; empty if nothing."""
    return "" if text in LEVELS else f"must be one of {', '.join(LEVELS)}"


def version_error(text: str) -> str:
    """Return what is wrong with a version; empty if nothing."""
    is_version = text == LATEST or _VERSION.fullmatch(text)
    return "" if is_version else 'must be "latest" or "v1.x"'


def minor_of(text: str) -> int | None:
    """Return the minor number of a version; None for the latest, which a wrong one stands for,
    too."""
    found = _VERSION.fullmatch(text)
    return int(found[1]) if found else None


def is_stricter(a: str, b: str) -> bool:
    """Return whether level `a` allows less than `b`."""
    return LEVELS.index(a) > LEVELS.index(b)
