"""The course of a cluster with given policies: the tables, and what those policies need themselves.

Params and their definitions are not there yet and are created by whoever applies the files; a
policy whose params are missing waits for them (its gate). A webhook that fails closed and is behind
a Service waits for that Service's pods. Where the files do not say what is behind a Service, a
Deployment is supposed that only webhooks have a say about, since nobody knows its labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from celadon.admission.registration import Policy
from celadon.cli.bootstrap.request_judging import hook_id
from celadon.cli.bootstrap.step_tables import Entry, Level, Sending, State, from_template, tables
from celadon.cli.check.manifests import Manifests
from celadon.cli.check.policy_set import PolicySets
from celadon.cli.check.webhook_documents import WebhookDocuments
from celadon.cli.reading.documents import Document
from celadon.kube import JsonObject, metadata
from celadon.records import dataclass

_IGNORE: Final = "Ignore"


@dataclass(slots=True)
class Course:
    """All entries. `gates` are the states that culprits wait for, by kind and name; `arrivals` what
    comes to be in the world once a request is done; `hooks` which webhooks answer in a state."""

    entries: list[Entry] = field(default_factory=list)
    gates: dict[tuple[str, str], str] = field(default_factory=dict)
    arrivals: dict[str, JsonObject] = field(default_factory=dict)
    hooks: dict[str, set[str]] = field(default_factory=dict)
    supposed: list[str] = field(default_factory=list)

    @property
    def sendings(self) -> list[Sending]:
        """The requests among the entries."""
        return [one for one in self.entries if isinstance(one, Sending)]

    @property
    def states(self) -> list[State]:
        """The states among the entries."""
        return [one for one in self.entries if isinstance(one, State)]


def awaited(manifests: Manifests, sets: PolicySets) -> list[Document]:
    """Params, and the definitions of their kinds: what is not there at the beginning."""
    kinds = {
        kind for part in sets.all for one in part.policies.values() if (kind := _param(one.value))
    }
    return [
        one
        for one in manifests.looked_up
        if one.group_kind in kinds or (_is_definition(one) and _defined(one) in kinds)
    ]


def course_of(manifests: Manifests, sets: PolicySets, webhooks: WebhookDocuments) -> Course:
    """The tables, and what the given policies and webhooks add."""
    course = Course(list(tables()))
    _add_params(course, awaited(manifests, sets), sets)
    _add_webhooks(course, manifests, webhooks)
    return course


def _param(policy: Policy) -> tuple[str, str] | None:
    kind = policy.spec.param_kind
    if kind is None:
        return None
    group, slash, _ = kind.api_version.rpartition("/")
    return (group if slash else ""), kind.kind


def _is_definition(document: Document) -> bool:
    return bool(document.value["kind"] == "CustomResourceDefinition")


def _defined(document: Document) -> tuple[str, str]:
    spec = document.value.get("spec") or {}
    return str(spec.get("group")), str((spec.get("names") or {}).get("kind"))


def _add_params(course: Course, documents: Sequence[Document], sets: PolicySets) -> None:
    served: dict[tuple[str, str], str] = {}
    for one in filter(_is_definition, documents):
        name = f"definition-{metadata.name(one.value)}"
        spec = one.value["spec"]
        versions = [version["name"] for version in spec["versions"]]
        stored = [version["name"] for version in spec["versions"] if version.get("storage")]
        values = {
            "name": name,
            "object": one.value,
            "names": spec["names"],
            "stored-versions": stored,
            "group": spec["group"],
            "version": versions[0],
        }
        course.entries += from_template("definition", values)
        served[_defined(one)] = f"{name}-served"
        course.arrivals[f"{name}-served"] = one.value
    params: dict[tuple[str, str], list[str]] = {}
    for number, one in enumerate(one for one in documents if not _is_definition(one)):
        name = f"param-{number}"
        needs = [served[one.group_kind]] if one.group_kind in served else []
        course.entries += from_template(
            "param", {"name": name, "needs": needs, "object": one.value}
        )
        course.arrivals[name] = one.value
        params.setdefault(one.group_kind, []).append(name)
    for part, kind in ((sets.validating, "Validating"), (sets.mutating, "Mutating")):
        for placed in part.policies.values():
            wanted = _param(placed.value)
            if wanted in params:
                _add_gate(course, f"{kind}AdmissionPolicy", placed.value.name, params[wanted])


def _add_gate(course: Course, kind: str, policy: str, params: Sequence[str]) -> None:
    name = f"params-of-{kind}-{policy}"
    otherwise = f"the params of policy `{policy}` are not there, so it refuses what it looks at"
    course.entries.append(State(name, tuple(params), otherwise, Level.DEADLOCKED))
    course.gates[kind, policy] = name


def _add_webhooks(course: Course, manifests: Manifests, webhooks: WebhookDocuments) -> None:
    given = [*manifests.looked_up, *manifests.admitted]
    services: dict[tuple[str, str], str] = {}
    for mutating, kind in ((True, "Mutating"), (False, "Validating")):
        for placed in webhooks.of(mutating=mutating).values():
            for one in placed.value.webhooks:
                service = one.client_config.service
                if service is None or one.failure_policy == _IGNORE:
                    continue
                where = service.namespace, service.name
                if where not in services:
                    services[where] = _add_service(course, given, *where)
                gate = services[where]
                course.hooks.setdefault(gate, set()).add(hook_id(placed.value.name, one.name))
                course.gates[f"{kind}WebhookConfiguration", placed.value.name] = gate


def _add_service(course: Course, given: Sequence[Document], namespace: str, name: str) -> str:
    found = _behind(given, namespace, name)
    service, workload = found.service, found.workload
    template = workload["spec"]["template"]
    entry = f"webhook-{namespace}-{name}"
    values = {
        "name": entry,
        "namespace": namespace,
        "service-name": name,
        "deployment-name": metadata.name(workload),
        "service-account": template["spec"].get("serviceAccountName", "default"),
        "labels": (template.get("metadata") or {}).get("labels") or {},
        "pod-metadata": template.get("metadata") or {},
        "pod-spec": template["spec"],
        "deployment": workload,
        "service": service,
        "otherwise": f"nobody answers at Service `{namespace}/{name}`, which webhooks wait for",
    }
    made = list(from_template("webhook-service", values))
    if found.supposed:
        course.supposed.append(f"{namespace}/{name}")
        made = [replace(one, judged=False) if isinstance(one, Sending) else one for one in made]
    course.entries += made
    return f"{entry}-answers"


@dataclass(frozen=True, slots=True)
class _Behind:
    """A Service and what runs behind it."""

    service: dict[str, Any]
    workload: dict[str, Any]
    supposed: bool


def _behind(given: Sequence[Document], namespace: str, name: str) -> _Behind:
    inside = [
        one.value for one in given if (metadata.namespace(one.value) or "default") == namespace
    ]
    service = next(
        (one for one in inside if one["kind"] == "Service" and metadata.name(one) == name), None
    )
    selector = ((service or {}).get("spec") or {}).get("selector") or {}
    workload = next(_selected(inside, selector), None) if selector else None
    supposed = workload is None
    labels = selector or {"app": name}
    if workload is None:
        pod = {"containers": [{"name": "webhook", "image": "registry.example.com/webhook:1.0"}]}
        workload = _deployment(
            namespace, name, labels, {"metadata": {"labels": labels}, "spec": pod}
        )
    elif workload["kind"] != "Deployment":
        template = workload["spec"]["template"]
        workload = _deployment(namespace, metadata.name(workload), labels, template)
    if service is None:
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]},
        }
    return _Behind(service, workload, supposed)


def _selected(
    objects: Sequence[Mapping[str, Any]], selector: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Workloads whose pods have all labels of a selector."""
    for one in objects:
        if one["kind"] in {"Deployment", "StatefulSet", "DaemonSet"}:
            labels = metadata.labels(one["spec"]["template"])
            if selector.items() <= labels.items():
                yield dict(one)


def _deployment(
    namespace: str, name: str, labels: Mapping[str, str], template: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
