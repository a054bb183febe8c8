"""The schemas of a CRD that is being written, decoded once for all checks.

Errors name the place where a schema stands; one that all versions share stands in another place,
since upstream keeps it as that of the whole definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.kube.fieldpath import FieldPath
from celadon.kube.schemas.schema_model import Schema
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """A schema, the JSON it was read from, and where errors say that it stands."""

    path: FieldPath
    schema: Schema
    given: Mapping[str, Any]
