"""The webhook on the network: its paths, limits, metrics, decision log, and an orderly end.

Read first `review_handler` (bytes to bytes, who waits and who is sent away), then
`webhook_process` (how it all comes together). Needs the packages of `celadon[serve]`.
"""

from celadon.webhook.service.decision_log import DecisionLogSettings
from celadon.webhook.service.webhook_process import (
    Certificate,
    ServedCertificate,
    Webhook,
    WebhookSettings,
    certificate_of,
    run_webhook,
    write_trusted,
)

__all__ = [
    "Certificate",
    "DecisionLogSettings",
    "ServedCertificate",
    "Webhook",
    "WebhookSettings",
    "certificate_of",
    "run_webhook",
    "write_trusted",
]
