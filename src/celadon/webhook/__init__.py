"""The admission webhook: AdmissionReviews in, answers out.

A review is answered by policies (`reviews`, then `review_decisions`), which come from files
(`review_decisions`) or from a cluster, and the `service` puts that on the network: `celadon
webhook`. This door is for those who write webhooks in Python: `handlers` are their functions,
`webhook_app` holds them together and tries them without a network. It is light: it loads no server
and no package of others.
"""

from celadon.admission import Operation
from celadon.webhook.handlers import Denied, Handler, NoObject, Request, mutate, validate
from celadon.webhook.webhook_app import Answer, TestClient, Webhook

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
