"""Webhooks written in Python: functions that decide about requests, or change their objects.

Read `webhook_app` (`Webhook`, what holds it together), `decorated_handlers` (what is said about a
function, what it gets, and what becomes of what it returns). `trial_client` asks handlers without a
network.
"""

from celadon.admission import Operation
from celadon.webhook.handlers.decorated_handlers import (
    Denied,
    Handler,
    NoObject,
    Request,
    Targets,
    mutate,
    validate,
)
from celadon.webhook.handlers.trial_client import Answer, TestClient
from celadon.webhook.handlers.webhook_app import Webhook

__all__ = [
    "Answer",
    "Denied",
    "Handler",
    "NoObject",
    "Operation",
    "Request",
    "Targets",
    "TestClient",
    "Webhook",
    "mutate",
    "validate",
]
