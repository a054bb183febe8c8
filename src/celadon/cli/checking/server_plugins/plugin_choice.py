"""Which plugins are asked, and what they are told: what the options of a command say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from celadon.kube.catalogue import DEFAULT_PLUGINS, PLUGINS, UnusablePlugins, enabled_plugins
from celadon.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celadon.admission.plugins import PluginSettings

EXTENSIONS: Final = frozenset(
    {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionWebhook",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionWebhook",
    }
)
"""Plugins that ask policies and webhooks, of which reports tell by their own names."""

BEYOND_FILES: Final = {
    "EventRateLimit": "it counts requests over time",
    "ImagePolicyWebhook": "its backend is not called",
    "NamespaceAutoProvision": "it would create namespaces; all are taken to be there",
}
"""Plugins that files cannot answer for, and why."""


@dataclass(frozen=True, slots=True)
class PluginChoice:
    """`names` are the enabled plugins; with `whole_cluster`, what is not in the files is not there
    at all. `left_out` are those that are enabled but of no use to the question, and why."""

    names: frozenset[str] = DEFAULT_PLUGINS
    settings: PluginSettings | None = None
    whole_cluster: bool = False
    left_out: tuple[tuple[str, str], ...] = ()

    def without(self, name: str, why: str) -> PluginChoice:
        """The same for a question that a plugin cannot be asked, and why."""
        if name not in self.names:
            return self
        return replace(self, names=self.names - {name}, left_out=(*self.left_out, (name, why)))

    def over(self, own: PluginChoice) -> PluginChoice:
        """Another choice, with what this one changes of the defaults changed there too."""
        more, fewer = self.names - DEFAULT_PLUGINS, DEFAULT_PLUGINS - self.names
        return replace(own, names=(own.names | more) - fewer)

    @property
    def asked(self) -> tuple[str, ...]:
        """Those that are asked, in their order, without policies and webhooks."""
        return tuple(
            one.name
            for one in PLUGINS
            if one.name in self.names
            and not one.gate
            and one.name not in EXTENSIONS
            and one.name not in BEYOND_FILES
        )

    @property
    def unasked(self) -> tuple[tuple[str, str], ...]:
        """Those that are enabled and cannot be asked, and why."""
        beyond = ((name, why) for name, why in BEYOND_FILES.items() if name in self.names)
        return (*self.left_out, *beyond)


def plugin_choice(
    enable: Sequence[str],
    disable: Sequence[str],
    settings: PluginSettings | None,
    *,
    whole_cluster: bool,
) -> PluginChoice:
    """From options whose values have commas. Raises UnusablePlugins, which is a ValueError."""
    more, fewer = (
        [name for text in given for name in text.split(",") if name] for given in (enable, disable)
    )
    configured = frozenset[str]() if settings is None else settings.configured
    names = enabled_plugins(more, fewer, configured)
    missing = EXTENSIONS - names
    if missing:
        name = min(missing)
        raise UnusablePlugins(f"`{name}` cannot be disabled: leave out its policies or webhooks")
    return PluginChoice(names, settings, whole_cluster)
