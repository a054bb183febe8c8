"""AdmissionReview: the envelope in which an API server asks a webhook, and gets its answer."""

from __future__ import annotations

from typing import Final

GROUP: Final = "admission.k8s.io"
API_VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
"""Both have the same fields."""

KIND: Final = "AdmissionReview"
"""Of questions and of answers."""
