"""Custom resources on their way through the store, where all are kept in one version.

A definition names one of its versions for storage. An object of another version is pruned by the
schema of that one when it is stored and gets its defaults when it is read; then it is pruned by the
schema of the version in which it is shown, which gives no defaults any more. What a server answers
to a write, a dry run too, has gone all the way. As k8s.io/apiextensions-apiserver
`pkg/apiserver/customresource_handler.go`, where nothing converts but the version's name.
"""

from __future__ import annotations

from typing import Any

from celadon.kube.custom.custom_defaults import defaulted, without_refused_nulls
from celadon.kube.custom.pruning import pruned
from celadon.kube.schemas.schema_model import Schema


def as_stored(obj: dict[str, Any], storage: Schema) -> dict[str, Any]:
    """What the store gives back of an object, with `storage` the schema of its version."""
    found: dict[str, Any] = defaulted(pruned(obj, storage).value, storage)
    return found


def as_shown(obj: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """An object that the store gave back, in another version, whose schema is `schema`. A null with
    a default stays, since nobody puts the default there."""
    found: dict[str, Any] = without_refused_nulls(pruned(obj, schema).value, schema)
    return found
