"""The hash of a pod template, which names what is made of it.

Upstream hashes the memory of a Go struct (k8s.io/kubernetes `pkg/controller`, `ComputeHash`). Here
it is the JSON text of the template: the hash looks alike and changes when the template changes, but
it is another one than that of a cluster.
"""

from __future__ import annotations

import json
from zlib import crc32

from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import SUFFIX_LETTERS


def template_hash(template: JsonObject) -> str:
    """Such as `6b474476c4`: the digits of a checksum in safe characters."""
    text = json.dumps(template, sort_keys=True, separators=(",", ":"))
    digits = str(crc32(text.encode()))
    return "".join(SUFFIX_LETTERS[ord(digit) % len(SUFFIX_LETTERS)] for digit in digits)
