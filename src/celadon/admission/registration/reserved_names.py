"""Names that the API does not give away: those of policies and webhooks from files of the server.

What may be in such files is in `celadon.admission.static`. As k8s.io/kubernetes
`pkg/apis/admissionregistration/validation/static_suffix.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.go import quote

GATE: Final = "ManifestBasedAdmissionControlConfig"
"""The feature gate, alpha in 1.36: with it there can be files, and the names are refused."""

STATIC_SUFFIX: Final = ".static.k8s.io"
"""How names of policies and webhooks end that a server has from its own files."""

RESERVED: Final = (
    f"names ending with {quote(STATIC_SUFFIX)} are reserved for static manifest-based "
    "configurations and cannot be managed via the API"
)
"""What a client is told who gives such a name to an object."""
