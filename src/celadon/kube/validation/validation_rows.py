"""What a kind is validated by: the names its objects may have, and its own rules for each write."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from celadon.kube import name_rules
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation.field_checks import RELAXED_SERVICE_NAMES, Errors
from celadon.kube.validation.object_meta import Naming
from celadon.records import dataclass

Create = Callable[[JsonObject], Errors]
Update = Callable[[JsonObject, JsonObject], Errors]


def nothing(_: JsonObject) -> Errors:
    """No rules of a kind's own."""
    return iter(())


SUBDOMAIN: Final = Naming()
GENERATED: Final = Naming(unread_prefix_since="1.35")
ANY_FINALIZERS: Final = Naming(any_finalizers=True)
LABEL: Final = Naming(name_rules.dns1123_label)
SERVICE: Final = Naming(
    name_rules.dns1123_label, gate=RELAXED_SERVICE_NAMES, otherwise=name_rules.dns1035_label
)
ANY_SEGMENT: Final = Naming(name_rules.path_segment_name, prefix_rule=name_rules.path_segment_name)
CLUSTER: Final = Naming(namespaced=False)
CLUSTER_LABEL: Final = Naming(name_rules.dns1123_label, namespaced=False)
CLUSTER_ANY: Final = Naming(lambda _: [], namespaced=False)
CLUSTER_GENERATED: Final = replace(GENERATED, namespaced=False)
CLUSTER_SEGMENT: Final = replace(ANY_SEGMENT, namespaced=False)


class Revisit(enum.Flag):
    """The ways in which the rules of a kind look at the metadata of a changed object, besides what
    a server does for all kinds."""

    NEVER = 0
    AS_NEW = enum.auto()
    AS_CHANGED = enum.auto()
    BOTH = AS_NEW | AS_CHANGED


@dataclass(frozen=True, slots=True)
class Validation:
    """The rules of a kind, besides those for metadata.

    Without `update`, a changed object must be what a new one must be. `status` is about an update
    of the status; where it is the rule for updates itself, it looks at metadata as that does.
    `naming` is made for an object where its names depend on what is in it; None: the kind's own
    rules say nothing about metadata. Before the release `repeated_until`, a changed object was also
    looked at as a new one, so that what was wrong was said twice.
    """

    create: Create = nothing
    naming: Naming | Callable[[JsonObject], Naming] | None = SUBDOMAIN
    update: Update | None = None
    status: Update | None = None
    revisit: Revisit = Revisit.BOTH
    named_once_since: str = ""
    """The release since which the metadata of a changed object are not looked at as new ones."""
    repeated_until: str = ""

    @property
    def revisits(self) -> Revisit:
        """Return how metadata are revisited in the current release."""
        once = self.named_once_since and is_since(self.named_once_since)
        return self.revisit & ~Revisit.AS_NEW if once else self.revisit

    def of_update(self, obj: JsonObject, old: JsonObject) -> Errors:
        """Yield what is wrong with an update, metadata included."""
        return self.create(obj) if self.update is None else self.update(obj, old)

    def naming_of(self, obj: JsonObject) -> Naming | None:
        """Return the rule for the name of an object; None if its kind has none."""
        return self.naming(obj) if callable(self.naming) else self.naming
