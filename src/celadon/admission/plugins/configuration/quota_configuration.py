"""ResourceQuotaConfiguration: what nobody may use unless a quota allows for it.

As k8s.io/apiserver `pkg/admission/plugin/resourcequota/apis/resourcequota`.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.configuration.configuration_errors import (
    objects_in,
    refuse,
    require_kind,
    texts_in,
)
from celadon.admission.plugins.quotas.limited_resources import LimitedResource
from celadon.kube import FieldPath, GroupResource, fieldpath

VERSIONS: Final = (
    "apiserver.config.k8s.io/v1",
    *(f"resourcequota.admission.k8s.io/{version}" for version in ("v1beta1", "v1alpha1")),
)
KINDS: Final = ("ResourceQuotaConfiguration", "Configuration")
"""The second is its name in the older versions."""


def limited_resources(document: object) -> tuple[LimitedResource, ...]:
    """Raises BadConfiguration."""
    is_old = isinstance(document, dict) and document.get("apiVersion") in VERSIONS[1:]
    given = require_kind(document, KINDS[is_old], VERSIONS)
    found, errors = [], []
    for place, one in enumerate(objects_in(given, "limitedResources")):
        resource = str(one.get("resource") or "")
        if not resource:
            path = FieldPath("limitedResources").index(place).child("resource")
            errors.append(fieldpath.required(path, ""))
        found.append(
            LimitedResource(
                GroupResource(str(one.get("apiGroup") or ""), resource),
                texts_in(one, "matchContains"),
                tuple(objects_in(one, "matchScopes")),
            )
        )
    refuse(errors)
    return tuple(found)
