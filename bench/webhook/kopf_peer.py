"""A webhook as it is written with kopf: one handler, the same check. Run by `kopf run`."""

from __future__ import annotations

import os
from typing import Any

import kopf

from bench.webhook.reviews import REGISTRY


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    """On the port, and with the certificate, that it is told."""
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1",
        port=int(os.environ["BENCH_PORT"]),
        certfile=os.environ["BENCH_CERTIFICATE"],
        pkeyfile=os.environ["BENCH_KEY"],
    )


@kopf.on.validate("apps", "v1", "deployments", operation="CREATE", id="images")
def images(spec: kopf.Spec, **_: Any) -> None:
    """All images come from one registry."""
    for container in spec["template"]["spec"]["containers"]:
        if not container["image"].startswith(REGISTRY):
            raise kopf.AdmissionError(f"not from {REGISTRY}", code=403)
