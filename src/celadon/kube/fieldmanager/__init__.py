"""Server-side apply: who owns which fields of an object, and configurations merged into it.

Read `field_manager` first: what a server does at each write. Below it `field_ownership` (who owns
what afterwards), `managed_fields` (the entries in `metadata.managedFields`), `field_sets`
(FieldsV1), and `structured_merge`, the walks over values by their schema. `mutated_kinds` is for
policies that change objects: they merge in the same way, and own nothing. `compiled_merge` has
merges of configurations that are known beforehand.
"""

from celadon.kube.fieldmanager.compiled_merge import EveryItem, Plan, Unplanned
from celadon.kube.fieldmanager.field_manager import (
    LAST_APPLIED,
    FieldWriter,
    Versions,
    applied,
    applied_configuration,
    configured,
    forget_managers,
    parent_managers,
    read_applied,
    scale_managers,
    track_create,
    track_update,
)
from celadon.kube.fieldmanager.field_sets import from_fields_v1, to_fields_v1
from celadon.kube.fieldmanager.managed_fields import entries_problem, renews, with_old_times
from celadon.kube.fieldmanager.merge_types import (
    NIL_LIST,
    ForeignValue,
    MergeType,
    UnshownVersion,
    merge_type,
)
from celadon.kube.fieldmanager.mutated_kinds import (
    CustomScaleKinds,
    MergePlanner,
    MutatedKinds,
    MutationRefused,
    Patched,
)

__all__ = [
    "LAST_APPLIED",
    "NIL_LIST",
    "CustomScaleKinds",
    "EveryItem",
    "FieldWriter",
    "ForeignValue",
    "MergePlanner",
    "MergeType",
    "MutatedKinds",
    "MutationRefused",
    "Patched",
    "Plan",
    "Unplanned",
    "UnshownVersion",
    "Versions",
    "applied",
    "applied_configuration",
    "configured",
    "entries_problem",
    "forget_managers",
    "from_fields_v1",
    "merge_type",
    "parent_managers",
    "read_applied",
    "renews",
    "scale_managers",
    "to_fields_v1",
    "track_create",
    "track_update",
    "with_old_times",
]
