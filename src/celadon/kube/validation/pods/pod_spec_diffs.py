"""The difference of two pod specs, as an API server prints it.

As k8s.io/apimachinery `pkg/util/diff`: both as indented JSON, compared line by line.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.validation.pods.internal_pod_types import internal_pod_spec

Object = Mapping[str, Any]

_HTML: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_HEADERS: Final = 2
"""Lines with the names of the files, which there are none of."""


def pod_spec_diff(old: Object, new: Object) -> str:
    """Hunks with three lines around each change; empty if nothing changes."""
    hunks = list(difflib.unified_diff(_lines(old), _lines(new)))
    return "".join(hunks[_HEADERS:])


def _lines(spec: Object) -> list[str]:
    text = json.dumps(internal_pod_spec(spec), indent=1, ensure_ascii=False).translate(_HTML)
    return [f"{line}\n" for line in text.split("\n")]
