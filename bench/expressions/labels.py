"""Labels and annotations."""

from __future__ import annotations

from typing import Final

from bench.case import Case, JsonObject

REQUIRED: Final = ("app", "team", "env")


def label_suffix(pod: JsonObject) -> bool:
    labels = pod["metadata"].get("labels")
    return labels is not None and "app" in labels and labels["app"].endswith("-frontend")


def required_labels(pod: JsonObject) -> bool:
    labels = pod["metadata"].get("labels")
    return labels is not None and all(key in labels for key in REQUIRED)


def environment_label(pod: JsonObject) -> bool:
    return pod["metadata"]["labels"]["env"] in ("dev", "staging", "prod")


def environment_param(deployment: JsonObject, params: JsonObject) -> bool:
    return deployment["metadata"]["labels"]["env"] in params["spec"]["environments"]


def label_keys(pod: JsonObject) -> bool:
    labels = pod["metadata"].get("labels")
    return labels is None or all(
        key.startswith("app.kubernetes.io/") or "/" not in key for key in labels
    )


def label_values(pod: JsonObject) -> bool:
    labels = pod["metadata"].get("labels")
    return labels is None or all(value != "" for value in labels.values())


def selector_matches(deployment: JsonObject) -> bool:
    spec = deployment["spec"]
    labels = spec["template"]["metadata"]["labels"]
    return all(
        key in labels and labels[key] == value
        for key, value in spec["selector"]["matchLabels"].items()
    )


def owner_annotation(pod: JsonObject) -> bool:
    annotations = pod["metadata"].get("annotations")
    if annotations is None:
        return False
    owner = annotations.get("example.com/owner")
    return owner is not None and owner.endswith("@example.com")


CASES: Final = (
    Case(
        label_suffix,
        "has(object.metadata.labels) && 'app' in object.metadata.labels"
        " && object.metadata.labels['app'].endsWith('-frontend')",
        "Pod",
    ),
    Case(
        required_labels,
        "has(object.metadata.labels)"
        " && ['app', 'team', 'env'].all(key, key in object.metadata.labels)",
        "Pod",
    ),
    Case(environment_label, "object.metadata.labels.env in ['dev', 'staging', 'prod']", "Pod"),
    Case(
        environment_param,
        "object.metadata.labels['env'] in params.spec.environments",
        "Deployment",
        ("object", "params"),
    ),
    Case(
        label_keys,
        "!has(object.metadata.labels) || object.metadata.labels.all(key,"
        " key.startsWith('app.kubernetes.io/') || !key.contains('/'))",
        "Pod",
    ),
    Case(
        label_values,
        "!has(object.metadata.labels) || object.metadata.labels.all(key, value, value != '')",
        "Pod",
    ),
    Case(
        selector_matches,
        "object.spec.selector.matchLabels.all(key, key in object.spec.template.metadata.labels &&"
        " object.spec.template.metadata.labels[key] == object.spec.selector.matchLabels[key])",
        "Deployment",
    ),
    Case(
        owner_annotation,
        "has(object.metadata.annotations) && 'example.com/owner' in object.metadata.annotations"
        " && object.metadata.annotations['example.com/owner'].endsWith('@example.com')",
        "Pod",
    ),
)
