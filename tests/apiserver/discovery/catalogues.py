"""Catalogues to publish: the built-in resources, and custom ones beside them."""

from __future__ import annotations

from typing import Any

from celadon.apiserver.discovery.discovery_documents import PublishedApis
from celadon.kube.resources import known_resources


def definition(group: str, plural: str, *versions: str, **more: Any) -> dict[str, Any]:
    """A CustomResourceDefinition; the first version is the one that is stored."""
    kind = plural.removesuffix("s").capitalize()
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "singular": plural.removesuffix("s")},
            "versions": [
                {"name": one, "served": True, "storage": index == 0, **more}
                for index, one in enumerate(versions)
            ],
        },
    }


def without_texts(value: Any, *, names: bool = False) -> Any:
    """The value without its descriptions; `names` says that it is a map by names of fields."""
    if isinstance(value, dict):
        return {
            key: without_texts(one, names=key == "properties")
            for key, one in value.items()
            if names or key != "description"
        }
    if isinstance(value, list):
        return [without_texts(one) for one in value]
    return value


def published(*definitions: dict[str, Any], all_versions: bool = False) -> PublishedApis:
    """What a server with these definitions offers."""
    return PublishedApis(known_resources(all_versions=all_versions).with_crds(definitions))
