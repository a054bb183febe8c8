"""Validation of `metadata` of registration objects: cluster-scoped, named by DNS subdomains.

`validate_object_meta` is what their strategies do first. `validate_meta_update` is what a server
does before it asks the strategy about an update; these kinds must say which version they change.
So a bad label is found three times on update. The rules themselves are those of all kinds.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import FieldError, JsonObject
from celadon.kube import validation as kube_validation
from celadon.kube.validation import Naming

NAMING: Final = Naming(namespaced=None)


def validate_object_meta(meta: JsonObject) -> list[FieldError]:
    """In upstream's order; the document has been decoded, so its values are of the right types."""
    return list(kube_validation.validate_object_meta(meta, NAMING))


def validate_meta_update(meta: JsonObject, old: JsonObject) -> list[FieldError]:
    """Both decoded, with the fields of a stored object that a client cannot touch carried over.
    Where objects have no versions, nobody can say which one is meant."""
    versioned = bool(old.get("resourceVersion"))
    return list(kube_validation.validate_meta_of_update(meta, old, unconditional=not versioned))
