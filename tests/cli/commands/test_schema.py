"""`celadon schema` as a user meets it."""

from __future__ import annotations

import json
import re
import socket
import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from celadon.cli.commands import schema
from celadon.cli.envtest import kubectl_program
from tests.cli.files import run, write
from tests.servers import serving

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gizmos.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "gizmos", "kind": "Gizmo", "shortNames": ["gz"]},
        "scope": "Namespaced",
        "versions": [
            {
                "name": version,
                "served": True,
                "storage": version == "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "properties": {
                                    "size": {"type": "integer", "default": 3},
                                    "port": {"x-kubernetes-int-or-string": True},
                                    "tags": {
                                        "type": "array",
                                        "items": {"type": "string"},
                                        "x-kubernetes-list-type": "set",
                                    },
                                    "more": {
                                        "type": "object",
                                        "additionalProperties": {"type": "boolean"},
                                    },
                                },
                            }
                        },
                    }
                },
            }
            for version in ("v1beta1", "v1")
        ],
    },
}

OPENAPI: dict[str, Any] = {
    "openapi": "3.0.0",
    "components": {
        "schemas": {
            "com.example.Gizmo": {
                "type": "object",
                "properties": {
                    "spec": {
                        "type": "object",
                        "required": ["when"],
                        "properties": {
                            "when": {"type": "string", "format": "date-time"},
                            "any": {"x-kubernetes-preserve-unknown-fields": True},
                            "self": {"allOf": [{"$ref": "#/components/schemas/com.example.Gizmo"}]},
                            "port": {"x-kubernetes-int-or-string": True, "nullable": True},
                        },
                    }
                },
                "x-kubernetes-group-version-kind": [
                    {"group": "example.com", "version": "v1", "kind": "Gizmo"}
                ],
            }
        }
    },
}

GIZMO_SPEC = """\
KIND     Gizmo
VERSION  example.com/v1
FIELD    spec <Object>

FIELDS
  more  <map[string]boolean>
  port  <IntOrString>
  size  <integer>             required; default 3
  tags  <[]string>            unique
"""


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema", "list")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["Deployment", "apps/v1"] in lines
    versions = [version for kind, version in lines if kind == "HorizontalPodAutoscaler"]
    assert versions == ["autoscaling/v2", "autoscaling/v1"]


@pytest.mark.parametrize("name", ["Gizmo.spec", "gz.spec", "GIZMOS.spec", "example.com/gizmo.spec"])
def test_custom_kinds(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    file = write(tmp_path / "crd.yaml", CRD)
    assert run(capsys, "schema", "show", name, "-f", file) == (0, GIZMO_SPEC, "")


def test_a_version_may_be_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write(tmp_path / "crd.yaml", CRD)
    _, out, _ = run(capsys, "schema", "show", "example.com/v1beta1/gizmo", "-f", file)
    assert out.splitlines()[1] == "VERSION  example.com/v1beta1"


def test_fields_of_items(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "schema", "show", "deploy.spec.template.spec.containers.ports")
    assert code == 0
    assert "FIELD    spec.template.spec.containers.ports <[]ContainerPort>" in out
    assert "  containerPort  <integer>  required\n" in out


def test_recursive(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "schema", "show", "configmap", "-r")
    assert "    labels " in out
    _, out, _ = run(capsys, "schema", "show", "customresourcedefinition.spec", "-r")
    assert "openAPIV3Schema" in out  # a type that holds itself ends somewhere


def test_as_openapi(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "schema", "show", "v1/Service.spec", "-o", "json")
    found = json.loads(out)
    assert found["type"] == "object"
    ports = found["properties"]["ports"]
    assert ports["x-kubernetes-list-map-keys"] == ["port", "protocol"]
    assert ports["items"]["properties"]["targetPort"] == {"x-kubernetes-int-or-string": True}
    _, out, _ = run(capsys, "schema", "show", "crd", "-o", "yaml")
    assert "x-kubernetes-preserve-unknown-fields: true" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["show", "Deploymnt"], "no kind `Deploymnt`, did you mean `Deployment`?"),
        (["show", "pod.spec.container"], "no field `container`, did you mean `containers`?"),
        (["show"], "`show` needs a name"),
        (["list", "pod"], "`list` takes no name"),
        (["build", "x"], "`build` and `--to` go together"),
        (["show", "pod", "--to", "x"], "`build` and `--to` go together"),
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    code, out, err = run(capsys, "schema", *words)
    assert (code, out, err.splitlines()[0]) == (2, "", f"error: {message}")


def test_build_from_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "openapi"
    folder.mkdir()
    write(folder / "apis__example.com__v1.json", OPENAPI)
    write(folder / "index.json", {"paths": {}})
    pack = str(tmp_path / "x.pack")
    code, out, _ = run(capsys, "schema", "build", str(folder), "--to", pack)
    assert (code, out.split(": ")[1].split(", ")[:2]) == (0, ["1 types", "1 kinds"])
    assert run(capsys, "schema", "list", "--pack", pack)[1] == "Gizmo  example.com/v1\n"
    _, out, _ = run(capsys, "schema", "show", "gizmo.spec", "--pack", pack)
    assert "  any   <any>          keeps unknown fields\n" in out
    assert "  port  <IntOrString>  nullable\n  self  <Gizmo>\n  when  <string>       req" in out


class _Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        elsewhere = {"serverRelativeURL": "http://localhost:1/x"}
        known: dict[str, Any] = {
            "/openapi/v3": {"paths": {"a": {"serverRelativeURL": "/openapi/v3/a?hash=1"}}},
            "/bad/openapi/v3": {"paths": {"a": elsewhere, "b": {}}},
            "/openapi/v3/a?hash=1": OPENAPI,
        }
        found = known.get(self.path)
        self.send_response(404 if found is None else 200)
        self.end_headers()
        self.wfile.write(json.dumps(found).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def test_build_from_a_server(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pack = str(tmp_path / "x.pack")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    with serving(server):
        url = f"http://127.0.0.1:{server.server_port}"
        assert run(capsys, "schema", "build", url, "--to", pack)[0] == 0
        code, _, err = run(capsys, "schema", "build", f"{url}/bad", "--to", pack)
        assert code == 2
        assert "`a` is on another server" in err
        assert "no address for `b`" in err
        code, _, err = run(capsys, "schema", "build", f"{url}/no", "--to", pack)
        assert (code, "cannot be fetched: not found" in err) == (2, True)
    assert run(capsys, "schema", "list", "--pack", pack)[1] == "Gizmo  example.com/v1\n"


class _Moved(BaseHTTPRequestHandler):
    """Sends whoever asks for `/` to another host, and tells what it is shown there."""

    shown: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.shown.append(self.headers["Authorization"])
        self.send_response(302 if self.path.startswith("/moved") else 404)
        self.send_header("Location", f"http://localhost:{self.server.server_port}/")  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def test_a_token_does_not_follow_a_redirect(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("secret")
    given = ("--token-file", str(tmp_path / "token"), "--to", str(tmp_path / "x.pack"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Moved)
    with serving(server):
        url = f"http://127.0.0.1:{server.server_port}/moved"
        assert run(capsys, "schema", "build", url, *given)[0] == 2
        words = ["get", "--raw", "/", f"--server={url}", "--token=secret"]
        assert kubectl_program.answer(words) == 1
    assert _Moved.shown == ["Bearer secret", None] * 2


def test_what_is_no_http(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            connection.recv(4096)
            connection.sendall(b"garbage\r\n\r\n")
            connection.close()

        Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        code, _, err = run(capsys, "schema", "build", url, "--to", str(tmp_path / "x.pack"))
    assert (code, "cannot be fetched: garbage" in err) == (2, True)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"type": {}}, "`components.schemas.com.example.Gizmo.type` must be text"),
        ({"x-kubernetes-group-version-kind": ["x"]}, "-kind[0]` must be a map, not text"),
        ({"x-kubernetes-group-version-kind": [{}]}, "-kind[0].group` must be text, not absent"),
        ({"properties": {"a": {"items": {"type": []}}}}, ".properties.a.items.type` must be text"),
    ],
)
def test_documents_of_another_shape(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: Any, text: str
) -> None:
    ((name, schema),) = OPENAPI["components"]["schemas"].items()
    document = {"components": {"schemas": {name: {**schema, **change}}}}
    file = write(tmp_path / "x.json", document)
    code, _, err = run(capsys, "schema", "build", str(file), "--to", str(tmp_path / "x.pack"))
    assert (code, text in err) == (2, True), err


@pytest.mark.parametrize("content", [b"", b"x", b"{}", b"\x78\x9c\x03\x00\x00\x00\x00\x01"])
def test_files_that_are_no_packs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "x.pack"
    file.write_bytes(content)
    code, _, err = run(capsys, "schema", "list", "--pack", str(file))
    assert (code, "not a schema pack" in err) == (2, True)


def test_unreadable_inputs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pack = str(tmp_path / "x.pack")
    assert run(capsys, "schema", "list", "--pack", pack)[0] == 2
    (tmp_path / "x.json").write_text("[")
    code, _, err = run(capsys, "schema", "build", str(tmp_path), "--to", pack)
    assert (code, "not a JSON document" in err) == (2, True)
    code, _, err = run(capsys, "schema", "list", "-f", str(tmp_path / "no.yaml"))
    assert (code, "cannot be read" in err) == (2, True)
    (tmp_path / "x.json").write_text('{"components": {}}')
    code, _, err = run(capsys, "schema", "build", str(tmp_path), "--to", pack)
    assert (code, "no schemas in these documents" in err) == (2, True)


@pytest.mark.parametrize("is_insecure", [False, True])
def test_how_servers_are_trusted(is_insecure: bool) -> None:
    """As kubectl does: a certificate that is given is trusted, whoever signed it."""
    assert schema._context("http://127.0.0.1", schema.Access(insecure=is_insecure)) is None
    context = schema._context("https://127.0.0.1", schema.Access(insecure=is_insecure))
    assert context is not None
    assert context.check_hostname is not is_insecure
    assert context.verify_mode is (ssl.CERT_NONE if is_insecure else ssl.CERT_REQUIRED)
    assert context.verify_flags & ssl.VERIFY_X509_PARTIAL_CHAIN
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT


def test_authorities_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "ca.crt"
    path.write_text("no certificate")
    with pytest.raises(
        ValueError, match=rf"^`{re.escape(str(path))}`: no certificates of authorities$"
    ):
        schema._context("https://127.0.0.1", schema.Access(ca_file=str(path)))
