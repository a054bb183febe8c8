"""The difference of two specs, as an API server prints it where one may not change.

As k8s.io/apimachinery `pkg/util/diff`: both as indented JSON, compared line by line. Before 1.34 it
is what github.com/google/go-cmp reports (`celadon.kube.go.go_cmp`).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from celadon.kube.go.go_cmp import reported_difference
from celadon.kube.go.go_values import GoData
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation.pods.internal_go_values import (
    go_pod_spec,
    go_volume_source,
    internal_go_list,
    internal_go_struct,
)
from celadon.kube.validation.pods.internal_pod_types import (
    CLAIM_SPEC,
    internal_pod_spec,
    internal_value,
)

MOST_COMPARED: Final = 10_000
"""Lines that are compared each with each, to say what has changed."""
_HTML: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_HEADERS: Final = 2
"""Lines with the names of the files, which there are none of."""
_EPHEMERAL: Final = "core.v1.EphemeralContainer"
_SIGNING: Final = "certificates.v1.CertificateSigningRequestCondition"
_VOLUME: Final = "core.v1.PersistentVolumeSpec"


def pod_spec_diff(old: JsonObject, new: JsonObject) -> str:
    """Hunks with three lines around each change; empty if nothing changes."""
    return _reported(go_pod_spec, old, new) or _diff(internal_pod_spec(old), internal_pod_spec(new))


def claim_spec_diff(old: JsonObject, new: JsonObject) -> str:
    """The same of specs of PersistentVolumeClaims."""
    return _reported(lambda one: internal_go_struct(one, CLAIM_SPEC), old, new) or _diff(
        internal_value(old, CLAIM_SPEC), internal_value(new, CLAIM_SPEC)
    )


def volume_source_diff(old: JsonObject, new: JsonObject) -> str:
    """The same of what PersistentVolumes are made of; empty if that is the same."""
    before, after = internal_value(old, _VOLUME), internal_value(new, _VOLUME)
    if before == after:
        return ""
    return _reported(go_volume_source, old, new) or _diff(before, after)


def ephemeral_container_diff(old: JsonObject, new: JsonObject) -> str:
    """The same of ephemeral containers."""
    return _reported(lambda one: internal_go_struct(one, _EPHEMERAL), old, new) or _diff(
        internal_value(old, _EPHEMERAL), internal_value(new, _EPHEMERAL)
    )


def signing_conditions_diff(old: Sequence[JsonObject], new: Sequence[JsonObject]) -> str:
    """The same of conditions of requests for certificates."""
    before, after = ([internal_value(one, _SIGNING) for one in each] or None for each in (old, new))
    return _reported(lambda one: internal_go_list(one, _SIGNING), old, new) or _diff(before, after)


T = TypeVar("T")


def _reported(inside: Callable[[T], GoData], old: T, new: T) -> str:
    """What releases before 1.34 say; empty for later ones."""
    return "" if is_since("1.34") else reported_difference(inside(old), inside(new))


def _diff(old: object, new: object) -> str:
    before, after = _lines(old), _lines(new)
    if len(before) + len(after) > MOST_COMPARED:
        return "".join(_coarse_diff(before, after))
    return "".join([*difflib.unified_diff(before, after)][_HEADERS:])


def _coarse_diff(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """One hunk with everything between the first and the last line that differ."""
    least = min(len(before), len(after))
    start = next((index for index in range(least) if before[index] != after[index]), least)
    rest = least - start
    same = next((index for index in range(rest) if before[~index] != after[~index]), rest)
    gone, new = before[start : len(before) - same], after[start : len(after) - same]
    if gone or new:
        yield f"@@ -{start + 1},{len(gone)} +{start + 1},{len(new)} @@\n"
        yield from (f"-{line}" for line in gone)
        yield from (f"+{line}" for line in new)


def _lines(value: object) -> list[str]:
    text = json.dumps(value, indent=1, ensure_ascii=False).translate(_HTML)
    return [f"{line}\n" for line in text.split("\n")]
