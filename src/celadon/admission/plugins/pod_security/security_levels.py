"""Levels and versions of the Pod Security Standards, and what the labels of a namespace choose.

As k8s.io/pod-security-admission `api`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from celadon.kube import FieldError, FieldPath, fieldpath

PRIVILEGED: Final = "privileged"
BASELINE: Final = "baseline"
RESTRICTED: Final = "restricted"
LEVELS: Final = (PRIVILEGED, BASELINE, RESTRICTED)
"""From the one that allows everything to the strictest."""

PREFIX: Final = "pod-security.kubernetes.io/"
"""Of the labels of namespaces, and of audit annotations."""
MODES: Final = ("enforce", "audit", "warn")

_VERSION: Final = re.compile(r"v1\.(0|[1-9][0-9]*)")
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
    """What is refused, what is noted in the audit log, and what is warned of."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()


UNLABELLED: Final = SecurityPolicy()


def policy_of(labels: Mapping[str, str]) -> tuple[SecurityPolicy, list[FieldError]]:
    """What the labels of a namespace choose, and what is wrong with them. A wrong level stands for
    the strictest where it is enforced, and for none elsewhere; a wrong version for the latest."""
    if not any(label.startswith(PREFIX) for label in labels):
        return UNLABELLED, []
    errors: list[FieldError] = []
    found = {}
    for mode in MODES:
        wrong = RESTRICTED if mode == "enforce" else PRIVILEGED
        level = _level(labels, mode, wrong, errors)
        found[mode] = LevelVersion(level, _minor(labels, f"{mode}-version", errors))
    return SecurityPolicy(found["enforce"], found["audit"], found["warn"]), errors


def _level(labels: Mapping[str, str], mode: str, wrong: str, errors: list[FieldError]) -> str:
    label = PREFIX + mode
    given = labels.get(label, PRIVILEGED)
    if given in LEVELS:
        return given
    why = f"must be one of {', '.join(LEVELS)}"
    errors.append(fieldpath.invalid(_LABELS.key(label), given, why))
    return wrong


def _minor(labels: Mapping[str, str], name: str, errors: list[FieldError]) -> int | None:
    label = PREFIX + name
    given = labels.get(label, "latest")
    if given == "latest":
        return None
    found = _VERSION.fullmatch(given)
    if found is None:
        why = 'must be "latest" or "v1.x"'
        errors.append(fieldpath.invalid(_LABELS.key(label), given, why))
        return None
    return int(found[1])


def is_stricter(a: str, b: str) -> bool:
    """Whether level `a` allows less than `b`."""
    return LEVELS.index(a) > LEVELS.index(b)
