"""Names of plugins, and the functions behind them."""

from __future__ import annotations

from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.plugin_chain import behaviours
from celadon.kube.defaulting.defaulting_rules import EXTRA_RULES
from celadon.kube.resources import PLUGINS
from celadon.kube.schemas import schema_packs

BEHAVIOURS = behaviours("1.36", PluginSettings())
OWN_AFFAIRS = {
    "AlwaysAdmit",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "NamespaceAutoProvision",
    "ResourceQuota",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
}
"""What the server does itself, or what has nothing to do."""
IDLE = {"NodeDeclaredFeatureValidator"}
"""What does nothing without a feature gate."""


def _ruled() -> set[str]:
    kinds = schema_packs.load("defaults")["kinds"].values()
    listed = [rule for kind in kinds for rule in kind.get("plugins", ())]
    extra = [
        rule for (_, phase), rules in EXTRA_RULES.items() if phase == "plugins" for rule in rules
    ]
    return {rule["plugin"] for rule in (*listed, *extra)}


def test_every_plugin_is_somewhere() -> None:
    usable = {one.name for one in PLUGINS if not one.lacks} - IDLE
    assert BEHAVIOURS.keys() | _ruled() | OWN_AFFAIRS == usable
    assert not OWN_AFFAIRS & (BEHAVIOURS.keys() | _ruled())


def test_halves_are_those_upstream_has() -> None:
    facts = {one.name: one for one in PLUGINS}
    for name, found in BEHAVIOURS.items():
        mutates = any(one.mutate is not None for one in found) or name in _ruled()
        validates = any(one.validate or one.advise for one in found)
        assert (mutates, bool(validates)) == (facts[name].mutates, facts[name].validates), name
