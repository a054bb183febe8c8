"""The hash of a pod template, which names what is made of it.

Upstream hashes the memory of a Go struct (k8s.io/kubernetes `pkg/controller`, `ComputeHash`). Here
it is the JSON text of the template: the hash looks alike and changes when the template changes, but
it is another one than that of a cluster.
"""

from __future__ import annotations

import json
from typing import Final
from zlib import crc32

from celadon.kube.json_types import JsonObject

SAFE_CHARACTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""Of generated names: no vowels, so no words (k8s.io/apimachinery `pkg/util/rand`)."""


def template_hash(template: JsonObject) -> str:
    """Such as `6b474476c4`: the digits of a checksum in safe characters."""
    text = json.dumps(template, sort_keys=True, separators=(",", ":"))
    digits = str(crc32(text.encode()))
    return "".join(SAFE_CHARACTERS[ord(digit) % len(SAFE_CHARACTERS)] for digit in digits)
