"""The plugins of a choice that nobody could ask, as a report tells of them."""

from __future__ import annotations

from collections.abc import Mapping

from celadon.cli.check.check_report import UnaskedPlugin
from celadon.cli.check.plugins import PluginChoice, Unasked


def unasked_plugins(
    choice: PluginChoice | None, counted: Mapping[Unasked, int]
) -> tuple[UnaskedPlugin, ...]:
    """Whom nobody could ask, by plugin."""
    if choice is None:
        return ()
    never = [UnaskedPlugin(name, why) for name, why in choice.unasked]
    some = [UnaskedPlugin(name, why, count) for (name, why), count in counted.items()]
    return (*never, *sorted(some, key=lambda one: (one.plugin, one.why)))
