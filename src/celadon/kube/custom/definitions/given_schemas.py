"""The schemas of a CRD that is being written, decoded once for all checks.

Errors name the place where a schema stands; one that all versions share stands in another place,
since upstream keeps it as that of the whole definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.schemas.definition_schemas import decode_schema
from celadon.kube.schemas.schema_model import Schema
from celadon.records import dataclass

_SHARED: Final = FieldPath("spec").child("validation", "openAPIV3Schema")
_VERSIONS: Final = FieldPath("spec").child("versions")


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """A schema, the JSON it was read from, and where errors say that it stands."""

    path: FieldPath
    schema: Schema
    given: Mapping[str, Any]


def given_schemas(spec: Mapping[str, Any]) -> list[GivenSchema]:
    """The schemas of all versions; one if they are all the same. Versions without are left out."""
    texts = [_schema_of(one) for one in spec.get("versions") or []]
    if texts and all(one == texts[0] for one in texts):
        placed = [(_SHARED, texts[0])]
    else:
        at = ("schema", "openAPIV3Schema")
        placed = [(_VERSIONS.index(i).child(*at), one) for i, one in enumerate(texts)]
    return [
        GivenSchema(path, decode_schema(given), given)
        for path, given in placed
        if isinstance(given, dict)
    ]


def _schema_of(version: Mapping[str, Any]) -> Any:
    schema = version.get("schema")
    return schema.get("openAPIV3Schema") if isinstance(schema, dict) else None
