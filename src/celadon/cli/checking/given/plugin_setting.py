"""The plugins of a choice set up in a world, and what they need beside it: how objects are prepared
when plugins look on, and quotas that can be charged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from celadon.cli.checking.check_report import UnaskedPlugin
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.overlaid_world import GivenWorld
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.checking.server_plugins.plugin_desk import PluginDesk, Unasked, objects_of
from celadon.kube import metadata
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.checking.manifests import Manifests
    from celadon.cli.checking.server_plugins.quota_ledger import QuotaLedger


@dataclass(frozen=True, slots=True)
class PluginSetting:
    """`prepare` asks the plugins on the way. `quotas` are as they are before anything was charged;
    None where nothing is limited."""

    prepare: Prepare
    quotas: QuotaLedger | None


def plugin_setting(
    choice: PluginChoice,
    version: str,
    now: str,
    manifests: Manifests,
    world: GivenWorld,
    prepare: Prepare,
) -> PluginSetting:
    """That of the cluster which manifests describe."""
    classes = [
        metadata.name(one.value)
        for one in manifests.also_looked_up
        if one.value["kind"] == "PriorityClass"
    ]
    desk = PluginDesk(choice, version, world, classes)
    return PluginSetting(
        prepare.with_plugins(desk), _quotas(manifests, world, prepare, choice, now)
    )


def _quotas(
    manifests: Manifests, world: GivenWorld, prepare: Prepare, choice: PluginChoice, now: str
) -> QuotaLedger | None:
    limited = () if choice.settings is None else choice.settings.limited_resources
    found = objects_of(world, "ResourceQuota")
    if "ResourceQuota" not in choice.names or not (found or limited):
        return None
    from celadon.cli.checking.server_plugins.quota_ledger import QuotaLedger  # late: few have any

    there = map(prepare.existing, (*manifests.looked_up, *manifests.old))
    return QuotaLedger(found, [one for one in there if isinstance(one, dict)], now, limited)


def unasked_plugins(
    choice: PluginChoice | None, counted: Mapping[Unasked, int]
) -> tuple[UnaskedPlugin, ...]:
    """Whom nobody could ask, by plugin."""
    if choice is None:
        return ()
    never = [UnaskedPlugin(name, why) for name, why in choice.unasked]
    some = [UnaskedPlugin(name, why, count) for (name, why), count in counted.items()]
    return (*never, *sorted(some, key=lambda one: (one.plugin, one.why)))
