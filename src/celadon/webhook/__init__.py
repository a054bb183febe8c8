"""Being an admission webhook: AdmissionReviews in, answers out.

A review is answered by policies (`reviews`, then `deciding`), which come from files
(`deciding`) or from a cluster, and the `service` puts that on the network: `celadon webhook`.
This door is for those who write webhooks in Python (`handlers`). It is light: it loads no server
and no package of others.
"""

from celadon.webhook.handlers import (
    Answer,
    Denied,
    Handler,
    NoObject,
    Operation,
    Request,
    TestClient,
    Webhook,
    mutate,
    validate,
)

__all__ = [
    "Answer",
    "Denied",
    "Handler",
    "NoObject",
    "Operation",
    "Request",
    "TestClient",
    "Webhook",
    "mutate",
    "validate",
]
