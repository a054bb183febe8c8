"""Which documents are policies of Kyverno, and what becomes of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.json_types import Needed, Shape
from celadon.kube.resources import Catalog
from celadon.migrate.kyverno.cel_policies import (
    CEL_POLICY_SHAPE,
    is_cel_policy,
    translate_cel_policy,
)
from celadon.migrate.kyverno.exceptions import PolicyException, exception_shape, is_exception
from celadon.migrate.kyverno.policies import POLICY_SHAPE, is_policy, read_policy
from celadon.migrate.kyverno.translation import translate
from celadon.migrate.translations import Origin, Translation

_CLEANS: Final = ("delete", "it deletes objects", "Keep it in Kyverno, or let a CronJob do it.")
_GENERATES: Final = (
    "generate", "it generates objects", "Keep it in Kyverno, or let a controller do it."
)  # fmt: skip
_VERIFIES: Final = (
    "verifyImages", "it verifies images", "Keep it in Kyverno, or use the policy-controller."
)  # fmt: skip
_NO_EQUAL: Final = {
    "CleanupPolicy": _CLEANS,
    "ClusterCleanupPolicy": _CLEANS,
    "DeletingPolicy": _CLEANS,
    "NamespacedDeletingPolicy": _CLEANS,
    "GeneratingPolicy": _GENERATES,
    "NamespacedGeneratingPolicy": _GENERATES,
    "ImageValidatingPolicy": _VERIFIES,
    "NamespacedImageValidatingPolicy": _VERIFIES,
}
"""Kinds of policies that admission policies have no equal of."""
_NAMED: Final[Shape] = {"metadata": Needed({"name": Needed(str), "namespace": str})}


def shape_of(document: object) -> Shape | None:
    """The shape that a policy, or an exception to policies, must have; None of what is neither, or
    not Kyverno's."""
    if is_policy(document):
        return POLICY_SHAPE
    if is_cel_policy(document):
        return CEL_POLICY_SHAPE
    if isinstance(document, Mapping) and is_exception(document):
        return exception_shape(document)
    return _NAMED if _has_no_equal(document) else None


def _has_no_equal(document: object) -> bool:
    return (
        isinstance(document, Mapping)
        and str(document.get("apiVersion", "")).startswith(("kyverno.io/", "policies.kyverno.io/"))
        and document.get("kind") in _NO_EQUAL
    )


def translate_document(
    document: JsonObject, catalog: Catalog, exceptions: Sequence[PolicyException] = ()
) -> list[Translation]:
    """What becomes of a policy that has its shape: of each of its rules, or of the whole."""
    if _has_no_equal(document):
        does, reason, instead = _NO_EQUAL[document["kind"]]
        origin = Origin(document["metadata"]["name"], "", (), does)
        return [Translation(origin, reason=reason, instead=instead)]
    if is_cel_policy(document):
        return [translate_cel_policy(document, exceptions)]
    return translate(read_policy(document), catalog, exceptions)
