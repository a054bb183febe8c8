"""Managers of an object as its `scale` has them, and back.

A scale has one field that is also a field of the object; who owns the one owns the other. As
k8s.io/apimachinery `pkg/util/managedfields/scalehandler.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from celadon.kube.apply.field_elements import FIELD
from celadon.kube.apply.field_sets import field_set
from celadon.kube.apply.managed_fields import APPLY, ManagerId, Managers, Owned
from celadon.kube.catalogue.resources import SCALE

Path = tuple[str, ...]
PathOf = Callable[[str], Path | None]
"""Where the objects of a version have their count; None for a version that there is not."""

REPLICAS: Final = (FIELD + "spec", FIELD + "replicas")


def field_path(names: tuple[str, ...]) -> Path:
    """The path of a field, given by its names."""
    return tuple(FIELD + name for name in names)


def managers_of_scale(parent: Managers, path_of: PathOf) -> Managers:
    """Those of the object who own its count."""
    found = Managers()
    for manager, owned in parent.owned.items():
        path = path_of(owned.api_version)
        if path is not None and path and owned.fields.has(*path):
            other = _in_scale(manager)
            found.owned[other] = Owned(field_set(REPLICAS), SCALE.api_version)
            found.times[other] = parent.times.get(manager, "")
    return found


def _in_scale(manager: ManagerId) -> ManagerId:
    """An updater is another one for each version in which it writes."""
    return (
        manager if manager.operation == APPLY else manager._replace(api_version=SCALE.api_version)
    )


def managers_of_parent(
    parent: Managers, scale: Managers, path_of: PathOf, api_version: str
) -> Managers:
    """Those of the object after a write to its scale; the endpoint is in `api_version`. Whoever did
    not own anything of the object before gets no time."""
    found = Managers()
    for manager, owned in parent.owned.items():
        path = path_of(owned.api_version)
        if path is None:
            continue
        fields = owned.fields
        if path and fields.has(*path) and manager not in scale.owned:
            fields = fields - field_set(path)
        found.keep(manager, fields, owned.api_version)
        found.times[manager] = parent.times.get(manager, "")
    path = path_of(api_version)
    for manager, owned in scale.owned.items():
        if path and owned.fields:
            found.owned[manager] = Owned(field_set(path), api_version)
            found.times[manager] = parent.times.get(manager, "")
    return found
