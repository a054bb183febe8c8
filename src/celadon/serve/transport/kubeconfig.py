"""The file that tells kubectl and all client libraries where the server is and who they are."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

NAME: Final = "celadon"


def kubeconfig(url: str, authority: bytes, token: str) -> str:
    """JSON, which is YAML too. `authority` is PEM; empty for plain HTTP."""
    cluster: dict[str, Any] = {"server": url}
    if authority:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }
    return json.dumps(config, indent=2) + "\n"
