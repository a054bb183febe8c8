"""Server-side apply: who owns which fields of an object, and configurations merged into it.

Read `field_tracking` first: what a server does at each write. Below it `field_ownership` (who owns
what afterwards), `managed_fields` (the entries in `metadata.managedFields`), `field_sets` and
`field_elements` (FieldsV1), and `typed`, the walks over values by their schema. `mutated_kinds` is
for policies that change objects: they merge in the same way, and own nothing; `merged_parts` reads
what such a merge brings, and `planned` has merges of configurations that are known beforehand.
"""

from celadon.kube.apply.field_sets import FieldSet, from_fields_v1, to_fields_v1
from celadon.kube.apply.field_tracking import (
    FieldWriter,
    Versions,
    applied,
    read_applied,
    track_create,
    track_update,
)
from celadon.kube.apply.kind_types import merge_type
from celadon.kube.apply.last_applied import LAST_APPLIED, applied_configuration, configured
from celadon.kube.apply.managed_fields import entries_problem, renews, with_old_times
from celadon.kube.apply.mutated_kinds import MergePlanner, MutatedKinds, MutationRefused, Patched
from celadon.kube.apply.planned.merge_plans import Plan, Unplanned
from celadon.kube.apply.planned.plan_making import EveryItem
from celadon.kube.apply.typed.foreign_values import ForeignValue
from celadon.kube.apply.typed.merge_types import MergeType

__all__ = [
    "LAST_APPLIED",
    "EveryItem",
    "FieldSet",
    "FieldWriter",
    "ForeignValue",
    "MergePlanner",
    "MergeType",
    "MutatedKinds",
    "MutationRefused",
    "Patched",
    "Plan",
    "Unplanned",
    "Versions",
    "applied",
    "applied_configuration",
    "configured",
    "entries_problem",
    "from_fields_v1",
    "merge_type",
    "read_applied",
    "renews",
    "to_fields_v1",
    "track_create",
    "track_update",
    "with_old_times",
]
