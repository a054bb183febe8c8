"""Rules of Kyverno that demand a level of the Pod Security Standards (`validate.podSecurity`).

Each check of the level becomes a validation. Kyverno judges `restricted` by the checks of
`baseline`, too, also where those of `restricted` are stricter. What is excluded is in the next
chapter (`pod_security_exclusions`).

As Kyverno `pkg/pss/evaluate.go`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.admission.plugins.pod_security_expressions import (
    OLDEST,
    Check,
    all_containers,
    checks_of,
)
from celadon.admission.plugins.pod_security_standards import (
    BASELINE,
    LATEST,
    NEWEST,
    RESTRICTED,
    minor_of,
    version_error,
)
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.releases import is_since
from celadon.migrate.cel_text import ALWAYS, Condition, conjunction, truth
from celadon.migrate.kyverno.pod_security_exclusions import exclusions, without_excluded
from celadon.migrate.kyverno.policies import TEMPLATES
from celadon.migrate.translations import NotTranslated

_ROOTS: Final = {
    **{kind: ".".join(("object", *path)) for kind, path in TEMPLATES.items()},
    "Pod": "object",
}
"""Where the pod of a kind stands; of no others does Kyverno judge the pods."""

_NEWEST_OF_KYVERNO: Final = 34
"""The minor release whose checks Kyverno calls the latest. It does not know those of 1.35, which
allow more to pods with users of their own."""


@dataclass(frozen=True, slots=True)
class Standard:
    """A rule demands this of pods."""

    variables: tuple[Mapping[str, str], ...]
    validations: tuple[Mapping[str, str], ...]

    def before(self) -> Before:
        """Return the same demand on the object that was before, beside one that is now, as one
        condition whose variables have names of their own."""
        texts = [_OF_VARIABLE.sub(r"\g<0>Before", one["expression"]) for one in self.validations]
        variables = [
            {
                "name": f"{one['name']}Before",
                "expression": _OF_VARIABLE.sub(r"\g<0>Before", one["expression"]),
            }
            for one in self.variables
        ]
        return Before(tuple(variables), conjunction(truth(f"({one})") for one in texts))


_OF_VARIABLE: Final = re.compile(r"\bvariables\.\w+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Before:
    """A condition: the object was as demanded."""

    variables: tuple[Mapping[str, str], ...]
    fine: Condition


def standard(
    given: JsonObject,
    message: Mapping[str, str],
    kinds: Sequence[GroupVersionKind],
    excepted: Sequence[tuple[Condition, Sequence[JsonObject]]] = (),
    obj: str = "object",
) -> Standard:
    """Return what `podSecurity` demands of objects of some kinds. A fixed message is followed by
    the name of the check. Exceptions exclude more from objects that fulfil their conditions. Raises
    NotTranslated."""
    # An expression has one place where the pod stands: kinds that have it elsewhere need rules of
    # their own.
    roots = {_ROOTS.get(one.kind) for one in kinds} or {None}
    root = roots.pop()
    if root is None or roots:
        raise NotTranslated("`podSecurity` for kinds without a template of Pods")
    root = root.replace("object", obj, 1)
    variables = {"containers": all_containers(root)}
    excluding = [(ALWAYS, given.get("exclude") or ())]
    for number, (when, entries) in enumerate(excepted, 1):
        # The condition is about the object, whatever has the pod.
        variables[f"isExcepted{number}"] = when.text
        excluding.append((truth(f"variables.isExcepted{number}"), entries))
    validations = []
    excluded = exclusions(excluding)
    for name, whole in _checks(given, root).items():
        left, needed = without_excluded(name, whole, excluded, root)
        if not left.parts:
            continue
        variables |= needed
        own = {key: f"{text} ({name})" for key, text in message.items() if key == "message"}
        validations.append({"expression": left.expression, **message, **own})
    return Standard(
        tuple({"name": key, "expression": one} for key, one in variables.items()),
        tuple(validations),
    )


def _checks(given: JsonObject, root: str) -> dict[str, Check]:
    version = str(given.get("version") or LATEST)
    minor = NEWEST if version == LATEST else minor_of(version)
    if version_error(version) or minor is None or minor < OLDEST:
        raise NotTranslated(f"the version {version} of the Pod Security Standards")
    level = given.get("level")
    if level not in (BASELINE, RESTRICTED):
        raise NotTranslated(f"the level {level} of the Pod Security Standards")
    # `evaluatePSS` runs the checks of both levels for `restricted`, where the API server leaves out
    # those of `baseline` that a stricter one overrides.
    known = min(minor, _NEWEST_OF_KYVERNO)
    checks = {**checks_of(BASELINE, known, root), **checks_of(level, known, root)}
    if is_since(_IMAGE_VOLUMES_SINCE):
        return checks
    return {name: _without_image_volumes(one) for name, one in checks.items()}


_IMAGE_VOLUMES_SINCE: Final = "1.31"


def _without_image_volumes(check: Check) -> Check:
    """Return a check that does not ask for a field that older releases do not have: they would warn
    of it, and no object has it."""
    parts = (
        replace(one, alternatives=tuple(x for x in one.alternatives if x != "has(volume.image)"))
        for one in check.parts
    )
    return replace(check, parts=tuple(parts))
