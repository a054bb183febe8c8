"""The admission plugins of an API server: their names, their order, and which are on by default.

One record for each, as k8s.io/kubernetes `pkg/kubeapiserver/options/plugins.go` of releases since
1.30 has them. What a plugin does is told elsewhere: changes that rules can say in
`celadon.kube.defaulting`, the rest in `celadon.admission.plugins`; both go by the names that stand
here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.releases import is_since
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class PluginFacts:
    """Describes a built-in plugin. `mutates` and `validates` say in which of the two phases
    upstream asks the plugin. `lacks` is what this server would need to run it, empty if it can.
    `gate` is the feature gate, off by default, without which the plugin does nothing. It is there
    from the release `since` on, and not any more from `until` on, if these are not empty."""

    name: str
    on: bool = True
    mutates: bool = False
    validates: bool = False
    gate: str = ""
    lacks: str = ""
    since: str = ""
    until: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether the current release has it."""
        is_there = not self.since or is_since(self.since)
        return is_there and not (self.until and is_since(self.until))


PLUGINS: Final = (
    PluginFacts("AlwaysAdmit", on=False, mutates=True, validates=True),
    PluginFacts("NamespaceAutoProvision", on=False, mutates=True),
    PluginFacts("NamespaceLifecycle", mutates=True),
    PluginFacts("NamespaceExists", on=False, validates=True),
    PluginFacts("LimitPodHardAntiAffinityTopology", on=False, validates=True),
    PluginFacts("LimitRanger", mutates=True, validates=True),
    PluginFacts("ServiceAccount", mutates=True, validates=True),
    PluginFacts("NodeRestriction", on=False, mutates=True),
    PluginFacts("TaintNodesByCondition", mutates=True),
    PluginFacts("AlwaysPullImages", on=False, mutates=True, validates=True),
    PluginFacts(
        "ImagePolicyWebhook", on=False, validates=True, lacks="a backend in a configuration file"
    ),
    PluginFacts("PodSecurity", validates=True),
    PluginFacts("PodNodeSelector", on=False, mutates=True, validates=True),
    PluginFacts("Priority", mutates=True, validates=True),
    PluginFacts("DefaultTolerationSeconds", mutates=True),
    PluginFacts("PodTolerationRestriction", on=False, mutates=True, validates=True),
    PluginFacts("EventRateLimit", on=False, validates=True, lacks="limits in a configuration file"),
    PluginFacts("ExtendedResourceToleration", on=False, mutates=True),
    PluginFacts(
        "PersistentVolumeLabel", on=False, mutates=True, lacks="a cloud provider", until="1.31"
    ),
    PluginFacts("DefaultStorageClass", mutates=True),
    PluginFacts("StorageObjectInUseProtection", mutates=True),
    PluginFacts("PodGroupProtection", mutates=True, gate="GenericWorkload", since="1.36"),
    PluginFacts("OwnerReferencesPermissionEnforcement", on=False, validates=True),
    PluginFacts("PersistentVolumeClaimResize", validates=True),
    PluginFacts("RuntimeClass", mutates=True, validates=True),
    PluginFacts("CertificateApproval", validates=True),
    PluginFacts("CertificateSigning", validates=True),
    PluginFacts("ClusterTrustBundleAttest", validates=True),
    PluginFacts("CertificateSubjectRestriction", validates=True),
    PluginFacts("DefaultIngressClass", mutates=True),
    PluginFacts("DenyServiceExternalIPs", on=False, validates=True),
    PluginFacts("PodTopologyLabels", mutates=True, since="1.33"),
    PluginFacts("PodGroupWorkloadExists", validates=True, gate="GenericWorkload", since="1.36"),
    PluginFacts(
        "NodeDeclaredFeatureValidator", validates=True, gate="NodeDeclaredFeatures", since="1.35"
    ),
    PluginFacts("JobValidation", validates=True, gate="GenericWorkload", since="1.36"),
    PluginFacts("PodResizeValidator", validates=True, since="1.36"),
    PluginFacts("MutatingAdmissionPolicy", mutates=True, since="1.32"),
    PluginFacts("MutatingAdmissionWebhook", mutates=True),
    PluginFacts("ValidatingAdmissionPolicy", validates=True),
    PluginFacts("ValidatingAdmissionWebhook", validates=True),
    PluginFacts("ResourceQuota", validates=True),
    PluginFacts("AlwaysDeny", on=False, mutates=True, validates=True),
)
"""In the order in which they are asked, in both phases."""

PLUGIN_ORDER: Final = {plugin.name: place for place, plugin in enumerate(PLUGINS)}
"""The place of each plugin by its name."""

DEFAULT_PLUGINS: Final = frozenset(plugin.name for plugin in PLUGINS if plugin.on)
"""The plugins that a server runs unless told otherwise, those of all releases."""


def default_plugins() -> frozenset[str]:
    """Return the plugins that a server of the current release runs unless told otherwise."""
    return frozenset(plugin.name for plugin in PLUGINS if plugin.on and plugin.is_known)


def known_plugins(names: Collection[str]) -> tuple[str, ...]:
    """Return those of the named plugins that the current release has, in their order."""
    return tuple(plugin.name for plugin in PLUGINS if plugin.name in names and plugin.is_known)


class UnusablePlugins(MalformedText):
    """Names that a server cannot start with."""


def enabled_plugins(
    enable: Iterable[str] = (), disable: Iterable[str] = (), configured: Collection[str] = ()
) -> frozenset[str]:
    """Return what `--enable-admission-plugins` and `--disable-admission-plugins` leave of the
    defaults; `configured` are those that have the configuration without which they cannot run.

    Raises UnusablePlugins, for unknown names in the words of k8s.io/apiserver
    `pkg/server/options/admission.go`.
    """
    more, fewer = frozenset(enable), frozenset(disable)
    known = known_plugins(PLUGIN_ORDER)
    for option, names in (("enable", enable), ("disable", disable)):
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise UnusablePlugins(f'{option}-admission-plugins plugin "{unknown}" is unknown')
    if more & fewer:
        both = " ".join(sorted(more & fewer))
        raise UnusablePlugins(
            f"[{both}] in enable-admission-plugins and disable-admission-plugins overlapped"
        )
    for plugin in PLUGINS:
        if plugin.name in more and plugin.lacks and plugin.name not in configured:
            raise UnusablePlugins(f"`{plugin.name}` is not supported: it needs {plugin.lacks}")
    return (default_plugins() | more) - fewer
