"""The plan of the house: the rooms, who may use whom, and the doors."""

from __future__ import annotations

MAY_USE: dict[str, set[str]] = {
    "cel": set(),
    "kube": {"cel"},
    "admission": {"cel", "kube"},
    "store": {"kube"},
    "goyaml": {"cel", "kube"},
    "serve": {"cel", "kube", "admission", "store", "goyaml"},
    "webhook": {"cel", "kube", "admission", "goyaml", "serve"},
    "cli": {"cel", "kube", "admission", "store", "goyaml", "serve", "webhook"},
    "testing": {"cel", "kube", "admission", "store", "goyaml", "serve", "webhook", "cli"},
}
"""Which rooms a room may import, besides itself."""

DOORS = {
    "celadon",
    "celadon.cel",
    "celadon.cel.extend",
    "celadon.cel.layout",
    "celadon.cel.libraries",
    "celadon.cel.tracing",
    "celadon.cel.unfinished",
    "celadon.cel.value_functions",
    "celadon.kube",
    "celadon.kube.apply",
    "celadon.kube.catalogue",
    "celadon.kube.custom",
    "celadon.kube.workload_controllers",
    "celadon.kube.defaulting",
    "celadon.kube.go",
    "celadon.kube.jsonpath",
    "celadon.kube.library",
    "celadon.kube.protobuf",
    "celadon.kube.quantities",
    "celadon.kube.roles",
    "celadon.kube.schemas",
    "celadon.kube.selection",
    "celadon.kube.validation",
    "celadon.kube.warnings",
    "celadon.kube.registry",
    "celadon.kube.registry.patching",
    "celadon.admission",
    "celadon.admission.explanation",
    "celadon.admission.incomplete",
    "celadon.admission.lint",
    "celadon.admission.mutating",
    "celadon.admission.plugins",
    "celadon.admission.plugins.configuration",
    "celadon.admission.registration",
    "celadon.admission.static",
    "celadon.admission.webhooks",
    "celadon.admission.writing",
    "celadon.store",
    "celadon.store.etcd",
    "celadon.store.files",
    "celadon.goyaml",
    "celadon.serve",
    "celadon.serve.calling",
    "celadon.serve.leading",
    "celadon.serve.operation",
    "celadon.serve.outgoing",
    "celadon.serve.tls",
    "celadon.serve.tls.issuing",
    "celadon.serve.transport",
    "celadon.webhook",
    "celadon.webhook.applications",
    "celadon.webhook.certificates",
    "celadon.webhook.cluster",
    "celadon.webhook.handlers",
    "celadon.webhook.installation",
    "celadon.webhook.policy_sources",
    "celadon.webhook.service",
    "celadon.cli.policy_test_door",
    "celadon.cli.reading",
    "celadon.testing",
}
"""What one room may import of another."""

PURE = ("cel", "kube", "admission")
"""Rooms without input, output, threads, clocks, randomness or logging."""


def reached(name: str) -> set[str]:
    """The room itself, those that it may use, and theirs."""
    return {name}.union(*map(reached, MAY_USE[name]))


def room(module: str) -> str:
    """`cel`, `kube`, ...; empty for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAY_USE else ""
