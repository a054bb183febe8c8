"""Show the server: `python tools/demo_server.py`, which `make demo` does.

Starts `celadon serve` with the policies of the examples and hands it their manifests: by kubectl,
or, without one, by requests of its own. What the server says is printed as it comes.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from celadon.cli.reading import DocumentReader, Problem, expand, read
from celadon.kube import metadata
from celadon.kube.catalogue import known_resources
from celadon.serve.transport import collection_path

GIVEN: Final = ("--manifests", "examples/cluster", "--manifests", "examples/policies")
MANIFESTS: Final = "examples/manifests"


def main() -> None:
    """Server, client, the end."""
    with tempfile.TemporaryDirectory() as folder:
        config = str(Path(folder, "kubeconfig"))
        with server(config):
            kubectl = shutil.which("kubectl")
            if kubectl is None:
                create_all(json.loads(Path(config).read_text(encoding="utf-8")))
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


def create_all(config: dict[str, Any]) -> None:
    """Each manifest in a request of its own."""
    reader = DocumentReader()
    for file in expand([MANIFESTS]):
        text = file if isinstance(file, Problem) else read(file)
        for found in () if isinstance(text, Problem) else reader.read(text):
            if not isinstance(found, Problem):
                create(config, found.value)


def create(config: dict[str, Any], obj: dict[str, Any]) -> None:
    """Prints what the server answers, and its warnings."""
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    resource = known_resources().by_gvk(metadata.gvk(obj))
    assert resource is not None, "the examples are of built-in kinds"
    path = collection_path(resource, metadata.namespace(obj) or "default")
    say(f"\n$ POST {path}  ({metadata.name(obj)})\n")
    headers = {"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json"}
    request = urllib.request.Request(  # the server that was started here
        cluster["server"] + path, json.dumps(obj).encode(), headers
    )
    try:
        answer = urllib.request.urlopen(
            request, context=ssl.create_default_context(cadata=authority)
        )
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        for warning in answer.headers.get_all("Warning", ()):
            say(f"Warning: {warning}\n")
        made = json.load(answer)
        say(f"{answer.status} {made.get('message', 'created')}\n")


def say(text: str) -> None:
    """At once: others write to the same terminal."""
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
