"""Show the server: `python tools/demo_server.py`, which `make demo` does.

Starts `celadon serve` with the policies of the examples and hands it their manifests: by kubectl;
without it, by curl; without that, too, by requests of its own. What the server says is printed as
it comes.
"""

from __future__ import annotations

import base64
import json
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from celadon.apiserver.http import collection_path
from celadon.cli.reading import Problem, read_documents
from celadon.kube import metadata
from celadon.kube.resources import known_resources

GIVEN: Final = ("--manifests", "examples/cluster", "--manifests", "examples/policies")
MANIFESTS: Final = "examples/manifests"


def main() -> None:
    """Server, client, the end."""
    with tempfile.TemporaryDirectory() as folder:
        config = str(Path(folder, "kubeconfig"))
        with server(config):
            kubectl = shutil.which("kubectl")
            if kubectl is None:
                create_all(json.loads(Path(config).read_text(encoding="utf-8")), Path(folder))
            else:
                say(f"\n$ kubectl apply -f {MANIFESTS}\n")
                command = [kubectl, "--kubeconfig", config, "apply", "-f", MANIFESTS]
                subprocess.run(command, check=False)  # 1: something was denied, as intended


@contextmanager
def server(config: str) -> Iterator[None]:
    """Runs while the block does; its first lines are shown."""
    arguments = ["serve", "--listen", "127.0.0.1:0", *GIVEN]
    say(f"\n$ celadon {' '.join(arguments)}\n")
    command = [sys.executable, "-m", "celadon", *arguments, "--kubeconfig-out", config]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # our own code
    with running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("try: "):
                break
            say(line)
        try:
            yield
        finally:
            running.send_signal(signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says to a request; the body is an object or a Status."""

    code: int
    warnings: tuple[str, ...]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ByCurl:
    """Requests as somebody would type them. `folder` is where the certificate and the headers lie:
    a token in an argument could be seen by others."""

    curl: str
    folder: Path

    def __call__(
        self, server: str, path: str, obj: object, headers: Mapping[str, str], authority: str
    ) -> Answer:
        """Sends it; shows the command."""
        lines = "".join(f"{name}: {value}\n" for name, value in headers.items())
        (self.folder / "headers").write_text(lines, encoding="utf-8")
        (self.folder / "ca.crt").write_text(authority, encoding="utf-8")
        command = ["--cacert", "ca.crt", "--header", "@headers", "--data-binary", "@-"]
        say(f"\n$ curl {' '.join(command)} {server}{path}\n")
        done = subprocess.run(
            [
                self.curl,
                "-sS",
                "--noproxy",
                "*",
                *command,
                "--dump-header",
                "answer",
                server + path,
            ],
            cwd=self.folder,
            input=json.dumps(obj).encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        first, *fields = (self.folder / "answer").read_text(encoding="utf-8").splitlines()
        named = [field.partition(": ") for field in fields]
        warnings = tuple(value for name, _, value in named if name.lower() == "warning")
        return Answer(int(first.split()[1]), warnings, json.loads(done.stdout))


def by_ourselves(
    server: str, path: str, obj: object, headers: Mapping[str, str], authority: str
) -> Answer:
    """Requests with what Python has."""
    say(f"\n$ POST {path}\n")
    request = urllib.request.Request(  # the server that was started here
        server + path, json.dumps(obj).encode(), dict(headers)
    )
    context = ssl.create_default_context(cadata=authority)
    try:
        answer = urllib.request.urlopen(request, context=context)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        warnings = tuple(answer.headers.get_all("Warning", ()))
        return Answer(answer.status, warnings, json.load(answer))


Send: TypeAlias = Callable[[str, str, object, Mapping[str, str], str], Answer]
"""Server, path, object, headers, certificates of authorities."""


def create_all(config: dict[str, Any], folder: Path) -> None:
    """Each manifest in a request of its own."""
    curl = shutil.which("curl")
    send = by_ourselves if curl is None else ByCurl(curl, folder)
    for found in read_documents([MANIFESTS]):
        if not isinstance(found, Problem):
            create(config, found.value, send)


def create(config: dict[str, Any], obj: dict[str, Any], send: Send) -> None:
    """Prints what the server answers, and its warnings."""
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    resource = known_resources().by_gvk(metadata.gvk(obj))
    assert resource is not None, "the examples are of built-in kinds"
    path = collection_path(resource, metadata.namespace(obj) or "default")
    headers = {"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json"}
    answer = send(cluster["server"], path, obj, headers, authority)
    for warning in answer.warnings:
        say(f"Warning: {warning}\n")
    told = answer.body.get("message", f"created: {metadata.name(obj)}")
    say(f"{answer.code} {told}\n")


def say(text: str) -> None:
    """At once: others write to the same terminal."""
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
