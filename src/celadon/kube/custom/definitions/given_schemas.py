"""The schemas of a CRD that is being written, decoded once for all checks.

Errors name the place where a schema stands; one that all versions share stands in another place,
since upstream keeps it as that of the whole definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.kube.custom.definitions.internal_definitions import internal_definition
from celadon.kube.fieldpath import FieldPath
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.schemas.schema_model import Schema
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """A schema, the JSON it was read from, and where errors say that it stands."""

    path: FieldPath
    schema: Schema
    given: Mapping[str, Any]


def given_schemas(spec: Mapping[str, Any]) -> list[GivenSchema]:
    """The schemas of all versions; one if they are all the same. Versions without are left out."""
    return [
        GivenSchema(path, decode_schema(given), given)
        for path, given in internal_definition(spec).schemas()
    ]
