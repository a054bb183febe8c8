"""Which documents are policies of Kyverno, and what becomes of each."""

from __future__ import annotations

from celadon.kube import JsonObject
from celadon.kube.json_types import Shape
from celadon.kube.resources import Catalog
from celadon.migrate.kyverno.cel_policies import (
    CEL_POLICY_SHAPE,
    is_cel_policy,
    translate_cel_policy,
)
from celadon.migrate.kyverno.policies import POLICY_SHAPE, is_policy, read_policy
from celadon.migrate.kyverno.translation import translate
from celadon.migrate.translations import Translation


def shape_of(document: object) -> Shape | None:
    """The shape that a policy must have; None of what is no policy of Kyverno."""
    if is_policy(document):
        return POLICY_SHAPE
    return CEL_POLICY_SHAPE if is_cel_policy(document) else None


def translate_document(document: JsonObject, catalog: Catalog) -> list[Translation]:
    """What becomes of a policy that has its shape: of each of its rules, or of the whole."""
    if is_cel_policy(document):
        return [translate_cel_policy(document)]
    return translate(read_policy(document), catalog)
