"""Small valid objects, and what validation says about changed ones."""

from __future__ import annotations

from typing import Any

from celadon.kube import metadata
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.registry.create import admit_form, finish_create, run_plugins, wipe_metadata
from celadon.kube.registry.decoded_object import drafted
from celadon.kube.registry.update import prepare_for_update
from celadon.kube.resources.api_resources import known_resources
from celadon.kube.status import StatusError
from celadon.kube.validation.built_in_validations import validate_create, validate_update
from celadon.kube.validation.field_checks import default_gates

Json = dict[str, Any]


def obj(api_version: str, kind: str, **fields: Any) -> Json:
    """With a name; `meta` is added to the metadata."""
    meta = {"name": "a", **fields.pop("meta", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **fields}


def container(**fields: Any) -> Json:
    return {"name": "c", "image": "nginx", **fields}


def pod_spec(*containers: Json, **fields: Any) -> Json:
    return {"containers": list(containers) or [container()], **fields}


def pod(*containers: Json, **fields: Any) -> Json:
    return obj("v1", "Pod", spec=pod_spec(*containers, **fields))


def workload(kind: str, **spec: Any) -> Json:
    """Of the apps group, with a selector that fits."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod_spec()}
    selector = {"matchLabels": {"a": "b"}}
    return obj("apps/v1", kind, spec={"selector": selector, "template": template, **spec})


def job(**spec: Any) -> Json:
    template = {"spec": pod_spec(restartPolicy="Never")}
    return obj("batch/v1", "Job", spec={"template": template, **spec})


def _namespace(value: Json) -> str:
    resource = known_resources(all_versions=True).by_gvk(metadata.gvk(value))
    assert resource is not None
    return "default" if resource.namespaced else ""


def admitted(value: Json) -> Json:
    return admit_form(value, metadata.gvk(value), namespace=_namespace(value))


def complaints(value: Json, *without: str) -> list[str]:
    """About a new object; `without` are gates that are off. Services may be refused before they
    are validated."""
    gates = default_gates() - set(without)
    kind = metadata.gvk(value)
    draft = drafted(value, kind, DefaultingContext(gates=dict.fromkeys(without, False)))
    wipe_metadata(draft, _namespace(value))
    run_plugins(draft)
    try:
        made = draft.validated(finish_create(draft))
    except StatusError as refusal:
        details = refusal.status.details
        return [f"{one.field}: {one.message}" for one in details.causes] if details else []
    return [str(error) for error in validate_create(made, kind, gates)]


def update_complaints(value: Json, old: Json, *without: str) -> list[str]:
    """About a changed object; each once. The old one may be as no gate lets it be now."""
    gates = default_gates() - set(without)
    kind = metadata.gvk(value)
    lenient = DefaultingContext(gates=dict.fromkeys(default_gates(), False))
    before = admit_form(old, kind, lenient, namespace=_namespace(old))
    placed = {**value, "metadata": {"namespace": _namespace(value), **value["metadata"]}}
    new = prepare_for_update(drafted(placed, kind), before)
    return list(dict.fromkeys(str(error) for error in validate_update(new, before, kind, gates)))
