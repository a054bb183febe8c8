"""Recorded scenarios against the server in process: `python -m tests.apiserver.replaying PATH...`.

What is compared, and how, is said by the shared replaying tool; only its connection is exchanged
for a call of the handler. Texts of headers are sent and read as that tool's HTTP client does it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http.request_bytes import header_text
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.object_store import ROOT
from celadon.kube.defaulting import service_ca_source
from celadon.storage.etcd import EtcdSettings, parse_endpoints
from tests.apiserver.in_process import Running
from tests.etcd.etcd_members import cluster
from tests.recorded.hook_server import bundle, hook_server
from tests.recorded.replay_tool import differences, tool
from tests.recorded.scenarios import ALL_VERSIONS, needs_of
from tests.recorded.shared_things import touches_what_is_shared

SERVICE_CA = "openshift-service-ca.crt"
REQUEST_LEVEL = "/namespaces/whk-audit-request/"
"""What the recording server audited with its requests (`tests/recorded/audit-policy.yaml`)."""


def request_of(step: dict[str, Any], path: str) -> HttpRequest:
    body = step.get("body")
    data = b"" if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    headers = [("accept", step.get("accept", "application/json")), ("user-agent", "replay")]
    user = step.get("user", "admin")
    given = step.get("headers", {})
    if user and "Authorization" not in given:
        headers.append(("authorization", f"Bearer {user}-token"))
    if body is not None and step.get("contentType", "") is not None:
        headers.append(("content-type", step.get("contentType", "application/json")))
    for name, values in given.items():
        headers = [one for one in headers if one[0] != name.lower()]
        for value in values if isinstance(values, list) else [values]:
            headers.append((name.lower(), header_text(value.encode("latin-1"))))
    return HttpRequest(step.get("method", "GET"), path, headers, data)


def connected(replay: Any, running: Running) -> Any:
    """The tool's server and its streams, on a running server."""

    class Server(replay.Server):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__("http://in.process:1", None)

        def call(self, step: dict[str, Any]) -> tuple[int, Any, list[str], str]:
            answer = running.answer(request_of(step, step["path"]))
            self.headers = {name.lower(): value for name, value in answer.headers}
            if answer.content_type:
                self.headers["content-type"] = answer.content_type
            self.raw = sent_body(answer).decode(errors="replace")
            audit = self.headers["audit-id"]
            about_request = answer.request_audit if REQUEST_LEVEL in step["path"] else {}
            self.audit_events[audit] = {"annotations": {**answer.audit, **about_request}}
            return answer.code, parsed(answer), warnings(replay, answer), audit

        def audit(self, audit_id: str) -> dict[str, Any]:
            self.audit_log = Path(__file__)
            found: dict[str, Any] = super().audit(audit_id)
            return found

    class Stream(replay.Stream):  # type: ignore[misc]
        def __init__(self, _: Server, step: dict[str, Any]) -> None:
            answer = running.answer(request_of(step, step["watch"]))
            self.answer = {
                "code": answer.code,
                "contentType": answer.content_type,
                "warnings": warnings(replay, answer),
            }
            self.events = replay.queue.Queue()
            self.ended = False
            self.last = None
            self.columns: list[Any] = []
            if answer.stream is None:
                self.answer["body"] = parsed(answer)
                self.ended = True
                return
            self.response = running.lines(answer.stream)
            threading.Thread(target=self._read, daemon=True).start()

        def close(self) -> None:
            if hasattr(self, "response"):
                self.response.close()

    replay.Stream = Stream
    return Server()


def sent_body(answer: HttpAnswer) -> bytes:
    """What a client reads, unpacked."""
    if ("Content-Encoding", "gzip") in answer.headers:
        return gzip.decompress(answer.body)
    return answer.body


def parsed(answer: HttpAnswer) -> Any:
    body = sent_body(answer)
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode(errors="replace")


def warnings(replay: Any, answer: HttpAnswer) -> list[str]:
    found = [value for name, value in answer.headers if name == "Warning"]
    return [replay.parse_warning(value.encode().decode("latin-1")) for value in found]


def started(
    *,
    all_versions: bool = False,
    etcd: EtcdSettings | None = None,
    release: str = "",
    gates: Mapping[str, bool] | None = None,
) -> Running:
    """A server set up as the recording one was."""
    extra = (service_ca_source(SERVICE_CA),)
    settings = Settings(
        version=release or Settings().version,
        all_versions=all_versions,
        extra_token_sources=extra,
        gates=gates or {},
    )
    return Running(settings, etcd)


def replayed(path: Path, running: Running, ca_bundle: str | None = None) -> list[str]:
    """What differs in one scenario."""
    replay = tool()
    return differences(replay, connected(replay, running), json.loads(path.read_text()), ca_bundle)


def replayed_together(
    paths: Sequence[Path],
    jobs: int,
    ca_bundle: str | None = None,
    etcd: str = "",
    release: str = "",
    gates: Mapping[str, bool] | None = None,
) -> Iterator[tuple[Path, list[str]]]:
    """Scenarios on shared servers, one for each kind of setup, `jobs` at a time: most of a scenario
    is waiting, so that several at once are done sooner.

    They have namespaces of their own, but were recorded one after the other: what one lets alice do
    in the whole cluster, or has a policy say about all nodes, others were recorded without. Such
    scenarios come first, one at a time. `etcd`: URLs of where servers keep their objects.
    `release`: what the servers answer as, with every version, if it is not the usual one.
    """
    every = {path: ALL_VERSIONS in needs_of(path) or bool(release) for path in paths}
    servers = {
        one: started(
            all_versions=one,
            etcd=_settings(etcd, all_versions=one),
            release=release,
            gates=gates,
        )
        for one in set(every.values())
    }
    alone = [path for path in paths if touches_what_is_shared(json.loads(path.read_text()))]
    together = [path for path in paths if path not in alone]

    def one(path: Path) -> list[str]:
        return replayed(path, servers[every[path]], ca_bundle)

    try:
        with ThreadPoolExecutor(jobs) as pool:
            found = {path: one(path) for path in alone}
            found |= zip(together, pool.map(one, together), strict=True)
    finally:
        for running in servers.values():
            running.close()
    yield from ((path, found[path]) for path in paths)


def _settings(etcd: str, *, all_versions: bool) -> EtcdSettings | None:
    """Each server has keys of its own."""
    if not etcd:
        return None
    prefix = "/all" if all_versions else "/usual"
    return EtcdSettings(parse_endpoints(etcd), root=ROOT, prefix=prefix)


def files(paths: Iterable[Path]) -> list[Path]:
    return [
        f for path in paths for f in (sorted(path.rglob("*.json")) if path.is_dir() else [path])
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=3, metavar="N", help="differences of each")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="scenarios at once")
    parser.add_argument("--store", choices=("memory", "etcd"), default="memory")
    parser.add_argument("--release", default="", metavar="MINOR", help="what the server answers as")
    options = parser.parse_args()
    passed = failed = 0
    with ExitStack() as stack:
        authority = stack.enter_context(hook_server())
        etcd = stack.enter_context(cluster()).urls if options.store == "etcd" else ""
        paths, jobs = files(options.paths), options.jobs
        hooks, release = bundle(authority), options.release
        for path, different in replayed_together(paths, jobs, hooks, etcd, release):
            passed, failed = passed + (not different), failed + bool(different)
            if different:
                shown = "".join(f"\n    {one}" for one in different[: options.show])
                sys.stdout.write(f"FAIL {path.parent.name}/{path.stem}{shown}\n")
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
