"""The difference of two specs of pods or claims, as an API server prints it.

As k8s.io/apimachinery `pkg/util/diff`: both as indented JSON, compared line by line.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import Final

from celadon.kube.json_types import JsonObject
from celadon.kube.validation.pods.internal_pod_types import internal_pod_spec, internal_value

_HTML: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_HEADERS: Final = 2
"""Lines with the names of the files, which there are none of."""


def pod_spec_diff(old: JsonObject, new: JsonObject) -> str:
    """Hunks with three lines around each change; empty if nothing changes."""
    return _diff(internal_pod_spec(old), internal_pod_spec(new))


def claim_spec_diff(old: JsonObject, new: JsonObject) -> str:
    """The same of specs of PersistentVolumeClaims."""
    return _diff(
        internal_value(old, "core.v1.PersistentVolumeClaimSpec"),
        internal_value(new, "core.v1.PersistentVolumeClaimSpec"),
    )


def volume_source_diff(old: JsonObject, new: JsonObject) -> str:
    """The same of what PersistentVolumes are made of; empty if that is the same."""
    return _diff(
        internal_value(old, "core.v1.PersistentVolumeSpec"),
        internal_value(new, "core.v1.PersistentVolumeSpec"),
    )


def ephemeral_container_diff(old: JsonObject, new: JsonObject) -> str:
    """The same of ephemeral containers."""
    return _diff(
        internal_value(old, "core.v1.EphemeralContainer"),
        internal_value(new, "core.v1.EphemeralContainer"),
    )


def signing_conditions_diff(old: Sequence[JsonObject], new: Sequence[JsonObject]) -> str:
    """The same of conditions of requests for certificates."""
    before, after = (
        [internal_value(one, "certificates.v1.CertificateSigningRequestCondition") for one in each]
        or None
        for each in (old, new)
    )
    return _diff(before, after)


def _diff(old: object, new: object) -> str:
    return "".join([*difflib.unified_diff(_lines(old), _lines(new))][_HEADERS:])


def _lines(value: object) -> list[str]:
    text = json.dumps(value, indent=1, ensure_ascii=False).translate(_HTML)
    return [f"{line}\n" for line in text.split("\n")]
