"""The recorded policies once more, enforced by `celadon webhook`.

`python -m tests.recorded.webhook_replaying` replays all of them; tests, one in some. The server
keeps the policies of a scenario but does not enforce them; a webhook in front of it does, called
over TLS with real reviews, and looks up in the server what a webhook would look up there. An answer
is compared with the recorded one after what lies in being a webhook is taken off: the prefix of
messages, and the names of annotations. What still differs is listed in `BEYOND`, with the reason;
the list is exact.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from celadon.admission import VALIDATION_FAILURE
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.caches.policy_cache import validating_view
from celadon.apiserver.http import Address, TlsSettings, open_listener
from celadon.kube.resources import DEFAULT_PLUGINS
from celadon.webhook.review_decisions import Rulebook, SourceState
from celadon.webhook.service.webhook_process import (
    PolicyAnswers,
    Webhook,
    WebhookSettings,
    certificate_of,
)
from tests.apiserver.in_process import Running
from tests.apiserver.replaying import connected, request_of
from tests.paths import shared_folder
from tests.recorded.replay_tool import differences, tool
from tests.recorded.scenarios import ALL_VERSIONS, needs_of

BEYOND: Final[Mapping[str, str]] = {}
"""Scenarios that no webhook can answer as the server does. Policies about webhook configurations
would be here, of which webhooks never hear, but no recording has one."""

HOOK: Final = "policies.celadon.example.com"
CONFIGURATION: Final = "celadon"
_PATH: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_PREFIX: Final = re.compile(rf'^admission webhook "{re.escape(HOOK)}" denied the request: ')
_LOOPBACK: Final = Address("127.0.0.1", 0)


class ServerPolicies:
    """A source that is always what the server has stored."""

    def __init__(self, running: Running, version: str) -> None:
        self._core = running.server.core
        self._view = validating_view(self._core.objects, version)

    def rulebook(self) -> Rulebook:
        return Rulebook(self._view.engine(self._view.rules()), lambda: self._core.world)

    def state(self) -> SourceState:
        return SourceState()

    def stamp(self) -> object:
        return object()  # of what is stored, something may have changed

    async def run(self) -> None:
        await asyncio.Event().wait()


class WebhookBeforeServer:
    """A server that enforces no policy, and a webhook in its loop that does."""

    def __init__(self, *, all_versions: bool) -> None:
        plugins = DEFAULT_PLUGINS - {"ValidatingAdmissionPolicy"}
        self.running = Running(Settings(all_versions=all_versions, plugins=plugins))
        certificate = certificate_of(TlsSettings(), _LOOPBACK)
        assert certificate is not None
        self._settings = WebhookSettings(
            _LOOPBACK, certificate, shutdown_delay=0.0, linger_seconds=0.0
        )
        port = self.running.wait_for(self._start())
        bundle = base64.b64encode(certificate.trusted).decode()
        step = {"method": "POST", "body": configuration(port, bundle)}
        answer = self.running.answer(request_of(step, _PATH))
        assert answer.code == 201, answer.body

    async def _start(self) -> int:
        source = ServerPolicies(self.running, "1.36")
        self._webhook = Webhook(self._settings, PolicyAnswers(self._settings, source))
        listener = open_listener(_LOOPBACK)
        ready = asyncio.Event()
        self._serving = asyncio.create_task(self._webhook.serve(listener, ready.set))
        await ready.wait()
        port: int = listener.getsockname()[1]
        return port

    async def _stop(self) -> None:
        self._webhook.end()
        await self._serving

    def close(self) -> None:
        self.running.wait_for(self._stop())
        self.running.close()


def configuration(port: int, bundle: str) -> dict[str, Any]:
    """Everything, in the version in which it is asked for."""
    everything = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["*"],
        "resources": ["*/*"],
    }
    webhook = {
        "name": HOOK,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 30,
        "failurePolicy": "Fail",
        "clientConfig": {"url": f"https://127.0.0.1:{port}/validate", "caBundle": bundle},
        "rules": [everything],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": CONFIGURATION},
        "webhooks": [webhook],
    }


def as_policies(answer: Any) -> Any:
    """An answer without what lies in being a webhook."""
    if isinstance(answer, dict) and answer.get("kind") == "Status" and "message" in answer:
        return {**answer, "message": _PREFIX.sub("", answer["message"])}
    return answer


def published(annotations: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations under the names that the server's own policies give them."""
    found = {}
    for name, value in annotations.items():
        hook, _, key = name.partition("/")
        if hook != HOOK:
            found[name] = value
        elif key == "validation_failure":
            found[VALIDATION_FAILURE] = value
        else:
            found[key.replace("_", "/", 1)] = value
    return dict(sorted(found.items()))


def replayed(path: Path, before: WebhookBeforeServer) -> list[str]:
    """What differs in one scenario."""
    replay = tool()
    server = connected(replay, before.running)
    call, audit = server.call, server.audit

    def translated(step: dict[str, Any]) -> Any:
        code, body, warnings, audit_id = call(step)
        return code, as_policies(body), warnings, audit_id

    server.call = translated
    server.audit = lambda audit_id: published(audit(audit_id))
    return differences(replay, server, json.loads(path.read_text(encoding="utf-8")))


def replayed_all(paths: Sequence[Path]) -> Iterator[tuple[str, list[str]]]:
    """By the names of scenarios, on one server for each kind of setup."""
    servers: dict[bool, WebhookBeforeServer] = {}
    try:
        for path in paths:
            every = ALL_VERSIONS in needs_of(path)
            if every not in servers:
                servers[every] = WebhookBeforeServer(all_versions=every)
            yield f"{path.parent.name}/{path.stem}", replayed(path, servers[every])
    finally:
        for one in servers.values():
            one.close()


def recorded_policies() -> list[Path]:
    return sorted((shared_folder() / "conformance" / "policy").glob("*.json"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="all policy recordings, if none")
    parser.add_argument("--show", type=int, default=3, metavar="N", help="differences of each")
    options = parser.parse_args()
    good = wrong = 0
    for name, different in replayed_all(options.paths or recorded_policies()):
        if bool(different) == (name in BEYOND):
            good += 1
            continue
        wrong += 1
        shown = "".join(f"\n    {one}" for one in different[: options.show])
        told = "FAIL" if different else "agrees, take it off the list:"
        sys.stdout.write(f"{told} {name}{shown}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{good} as expected ({len(BEYOND)} beyond webhooks), {wrong} not\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
