"""ValidatingAdmissionPolicyConfiguration and MutatingAdmissionPolicyConfiguration: the folder of
static policies.

As k8s.io/apiserver `pkg/admission/plugin/policy/config`, which decodes strictly; what is asked of a
folder is in its `pkg/admission/plugin/manifest/validation.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from celadon.admission.plugins.configuration.configuration_errors import (
    BadConfiguration,
    refuse,
    refuse_unknown,
    require_kind,
    text_in,
)
from celadon.admission.registration.reserved_names import GATE
from celadon.kube import fieldpath

VERSION: Final = "apiserver.config.k8s.io/v1"
KINDS: Final = ("ValidatingAdmissionPolicyConfiguration", "MutatingAdmissionPolicyConfiguration")
STATIC_FOLDER: Final = "staticManifestsDir"

FolderProblem = Callable[[str], str]
"""Why a path that is absolute is that of no folder; empty if it is."""


def validating_folder(document: object) -> str:
    """Of a ValidatingAdmissionPolicyConfiguration, as it was given. Raises BadConfiguration."""
    return _folder(document, KINDS[0])


def mutating_folder(document: object) -> str:
    """The same of a MutatingAdmissionPolicyConfiguration."""
    return _folder(document, KINDS[1])


def check_folder(folder: str, *, gated: bool, problem: FolderProblem) -> None:
    """Raises BadConfiguration unless static manifests may be there; `gated` is whether the feature
    gate is on."""
    at = fieldpath.ROOT.child(STATIC_FOLDER)
    if not gated:
        why = f"{STATIC_FOLDER} requires the {GATE} feature gate to be enabled"
        refuse([fieldpath.forbidden(at, why)])
    if not folder.startswith("/"):
        refuse([fieldpath.invalid(at, folder, "must be an absolute file path")])
    why = problem(folder)
    if why:
        refuse([fieldpath.invalid(at, folder, why)])


def _folder(document: object, kind: str) -> str:
    found = document.get("kind") if isinstance(document, dict) else None
    if found in KINDS and found != kind:
        raise BadConfiguration(f"unexpected type: *policyconfig.{found}")
    given = require_kind(document, kind, (VERSION,))
    refuse_unknown(given, (STATIC_FOLDER,))
    return text_in(given, STATIC_FOLDER)
