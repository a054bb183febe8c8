"""The Pod Security Standards as policies: what the plugin PodSecurity refuses, these refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission.plugins.pod_security_expressions import (
    CONTAINERS,
    OLDEST,
    check_expressions,
)
from celadon.kube import JsonObject
from celadon.kube.well_known_values import EPHEMERAL_CONTAINERS
from celadon.prove.properties import policy_document

_NAME: Final = re.compile(r"pod-security/(baseline|restricted)(?::(latest|v?1\.([0-9]{1,3})))?")


def _images(name: str) -> str:
    return f"{{}}.spec.?{name}.orValue([]).map(c, c.?image.orValue(''))"


_LOOKED_AT: Final = " || ".join(
    (
        "request.operation != 'UPDATE'",
        *(
            f"{_images(one).format('object')} != {_images(one).format('oldObject')}"
            for one in ("containers", "initContainers")
        ),
        "object.spec.?ephemeralContainers.orValue([]).exists(c,"
        " !oldObject.spec.?ephemeralContainers.orValue([]).exists(old, old.name == c.name"
        " && old.?image.orValue('') == c.?image.orValue('')))",
    )
)
"""An update is looked at if it changes an image, or brings a container."""

_OPERATIONS: Final = ["CREATE", "UPDATE"]
_RULE: Final[JsonObject] = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": _OPERATIONS,
    "resources": ["pods"],
}
_EPHEMERAL_RULE: Final[JsonObject] = {
    **_RULE,
    "operations": ["UPDATE"],
    "resources": [f"pods/{EPHEMERAL_CONTAINERS}"],
}


@dataclass(frozen=True, slots=True)
class Standard:
    """A level of the standards in the version of a minor release."""

    level: str
    minor: int

    @classmethod
    def named(cls, text: str, latest: int) -> Standard | None:
        """`pod-security/baseline:1.32`; without a version the `latest`. None if there is no such
        standard."""
        found = _NAME.fullmatch(text)
        if found is None:
            return None
        minor = int(found[3]) if found[3] else latest
        return cls(found[1], minor) if minor >= OLDEST else None

    def __str__(self) -> str:
        return f"pod-security/{self.level}:1.{self.minor}"

    @property
    def checks(self) -> dict[str, str]:
        """The expressions that hold of every pod that is admitted, by the names of the checks."""
        return check_expressions(self.level, self.minor)

    @property
    def document(self) -> JsonObject:
        """A policy that enforces it as the plugin does."""
        return self._policy((_RULE, _EPHEMERAL_RULE), self.checks.values())

    def asked(
        self, *checks: str, operations: Sequence[str] = (), of_all_updates: bool = False
    ) -> JsonObject:
        """The same for proofs: of pods only, or of one check; `of_all_updates` refuses them also if
        they change nothing that matters."""
        rule = {**_RULE, "operations": list(operations) or _OPERATIONS}
        expressions = [text for name, text in self.checks.items() if name in checks or not checks]
        return self._policy((rule,), expressions, of_all_updates=of_all_updates)

    def _policy(
        self,
        rules: Sequence[JsonObject],
        expressions: Iterable[str],
        *,
        of_all_updates: bool = False,
    ) -> JsonObject:
        conditions = [] if of_all_updates else [{"name": "looked-at", "expression": _LOOKED_AT}]
        return policy_document(
            f"pod-security-{self.level}",
            rules,
            list(expressions),
            [("containers", CONTAINERS)],
            conditions=conditions,
        )
