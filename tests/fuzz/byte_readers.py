"""What reads the bytes and texts of strangers, with what it may raise: anything else is a mistake.

Where two readers know one language, or a writer undoes a reader, the results are compared.
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
from pathlib import Path
from typing import Any, Final

from celadon.apiserver.authn.signed_tokens import NotAToken, parse_token
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.negotiation import media_clauses
from celadon.apiserver.request_info import UnreadablePath, request_info
from celadon.cel import CelError, Environment, types
from celadon.cel.re2 import RegexError
from celadon.cel.re2 import compile as compile_pattern
from celadon.cli.audit.audit_inputs import Inputs, given_inputs
from celadon.cli.audit.fleet_parts import DamagedResultError, KeptResults
from celadon.cli.audit.fleet_run import SurveyedSource
from celadon.cli.audit_logs import read_events
from celadon.cli.project_config import ConfigError, find_project
from celadon.cli.reading.documents import DocumentReader
from celadon.goyaml import BlockReader, UnreadableError, UnusualError, first_document, read_yaml
from celadon.kube.errors import KubeError
from celadon.kube.go import JsonSyntaxError, read_json
from celadon.kube.protobuf import ProtobufError, decode, encode
from celadon.kube.quantity import parse
from celadon.kube.registry import apply_json_patch, apply_merge_patch, read_patch
from celadon.kube.selectors import parse_field_selector, parse_label_selector
from celadon.kube.x509 import authority_of, key_pair_fault, pem_blocks
from celadon.webhook.reviews import ReviewError, decode_review
from celadon.webhook.service.review_handler import UnreadableJson, read_document
from tests.fuzz.byte_reader import ByteReader, text_of
from tests.fuzz.policy_readers import POLICY_READERS
from tests.fuzz.server_readers import SERVER_READERS
from tests.fuzz.small_readers import SMALL_READERS
from tests.paths import ROOT

_FOLDER: Final = tempfile.TemporaryDirectory(prefix="celadon-fuzz-")
_POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "labels": {"app": "b"}},
    "spec": {"containers": [{"name": "c", "image": "d", "ports": [{"containerPort": 80}]}]},
}
_JSON: Final = json.dumps(_POD).encode()
_YAML: Final = (ROOT / "examples/manifests/checkout.yaml").read_bytes()
_JSON_WORDS: Final = (
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\\ud800",
    b"1e999",
    b"null",
    b"-0",
    b"NaN",
)


def _json(data: bytes) -> None:
    """What the standard library takes is taken, and is the same."""
    text = text_of(data)
    try:
        expected = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        expected = None
    value = read_json(text).value
    if expected is not None and _finite(text):
        assert value == expected, (value, expected)


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _finite(text: str) -> bool:
    """Keys that stand twice are merged, and large numbers rounded, otherwise than in Python."""
    if re.search(r"\d{16}", text):
        return False
    return not any(char in text for char in ("e", "E", ".")) and "\\" not in text


def _quick_yaml(data: bytes) -> None:
    """What the quick reader takes, the complete one reads as the same."""
    text = text_of(data)
    quick = BlockReader().read(text)
    found = [value for _, value in read_yaml(text)]
    assert found == [quick] or (not found and quick is None), (quick, found)


def _protobuf(data: bytes) -> None:
    """What was read and is written is read as the same."""
    made = decode(data)
    again = decode(encode(made))
    assert json.dumps(again) == json.dumps(decode(encode(again)))


def _expression(data: bytes) -> None:
    """Both variants of the code come to the same."""
    environment = Environment({"object": types.DYN})
    program = environment.program(environment.compile(text_of(data)[:300]).checked())
    program.evaluate({"object": _POD})


def _pattern(data: bytes) -> None:
    pattern, _, text = text_of(data).partition("\n")
    compile_pattern(pattern[:200]).search(text[:10])


def _json_patch(data: bytes) -> None:
    operations = read_patch(text_of(data)).value
    if isinstance(operations, list) and all(isinstance(one, dict) for one in operations):
        apply_json_patch(json.loads(_JSON), operations)


def _merge_patch(data: bytes) -> None:
    apply_merge_patch(json.loads(_JSON), read_json(text_of(data)).value)


def _review(data: bytes) -> None:
    decode_review(read_document(data), len(data))


def _pem(data: bytes) -> None:
    for block in pem_blocks(data):
        authority_of(block.content)
    key_pair_fault(data, data)


def _target(data: bytes) -> None:
    request = HttpRequest("GET", text_of(data).replace("\n", ""))
    assert request.query is not None
    request_info(request)


def _file(name: str, data: bytes) -> str:
    path = Path(_FOLDER.name, name)
    path.write_bytes(data)
    return str(path)


def _dump(data: bytes) -> None:
    _pieces(given_inputs([_file("dump", data)]))


def _snapshot(data: bytes) -> None:
    _pieces(given_inputs((), [_file("etcd.db", data)]))


def _pieces(inputs: Inputs) -> None:
    reader = DocumentReader()
    for block in inputs.blocks():
        for piece in block.pieces():
            if hasattr(piece, "objects"):
                list(piece.objects(reader))


def _audit_log(data: bytes) -> None:
    list(read_events([_file("audit.log", data)]))


def _project(data: bytes) -> None:
    find_project(Path(_file("celadon.toml", data)).parent, reads_files=False)


def _kept_result(data: bytes) -> None:
    _file("k.json", data)
    KeptResults(_FOLDER.name).found(SurveyedSource, "k")


def _token() -> bytes:
    parts = (b'{"alg":"ES256","kid":"a"}', b'{"exp":1,"iss":"b","aud":["c"]}', b"signature")
    return b".".join(base64.urlsafe_b64encode(one).rstrip(b"=") for one in parts)


_EVENT: Final = (
    b'{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete",'
    b'"requestURI":"/api/v1/pods","verb":"create","user":{"username":"a"},"objectRef":'
    b'{"resource":"pods","apiVersion":"v1"},"requestObject":' + _JSON + b"}\n"
)
_WHITE_SPACE: Final = b"{}\n\x1c\n"
_REVIEW: Final = (
    b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"a","kind":'
    b'{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":'
    b'"pods"},"operation":"CREATE","userInfo":{"username":"u"},"object":' + _JSON + b"}}"
)
_SNAPSHOT: Final = (ROOT / "examples/audit/etcd.db").read_bytes()

READERS: Final = (
    ByteReader("json", _json, (JsonSyntaxError,), (_JSON, b"[1,2.5,null]"), _JSON_WORDS),
    ByteReader(
        "yaml",
        first_document,
        (UnreadableError,),
        (
            _YAML,
            b"a: &x [1, {b: c}]\nd: *x\n",
            b"!!binary \xc3\xa9",
            b"? a\n: |\n  b\n",
            b"%YAML 1.1\n---\n!!int 1\n",
        ),
        (b"- ", b": ", b"\n  ", b"&a ", b"*a", b"!!binary ", b"<<", b"|", b">", b"#", b"---\n"),
    ),
    ByteReader("quick-yaml", _quick_yaml, (UnusualError, UnreadableError), (_YAML,)),
    ByteReader("protobuf", _protobuf, (ProtobufError,), (encode(_POD),), (b"\xff\xff\x7f", b"\n")),
    ByteReader(
        "expression",
        _expression,
        (CelError,),
        (
            b"object.spec.containers.all(c, c.name != '' && size(c.ports) < 3u)",
            b"[1, 2.5, b'a'][0]",
        ),
        (b".map(x, ", b".exists(x, ", b"has(", b"&& ", b"? ", b"'", b"0x", b"u", b"duration('1s')"),
    ),
    ByteReader(
        "pattern",
        _pattern,
        (RegexError,),
        (b"^(a|b)*[^c-e]{2,3}\\pL\\b$\naabx", b"(?i:[[:alpha:]]+?)(?P<n>x)\nABX"),
        (b"(?:", b")", b"[", b"]", b"{1,1000}", b"\\p{Greek}", b"\\Q", b"(?P<", b"*", b"|", b"\\C"),
    ),
    ByteReader(
        "label-selector",
        lambda data: parse_label_selector(text_of(data)),
        (KubeError,),
        (b"a=b,c in (d,e),!f,g notin (h),i>1",),
        (b" in ", b"notin", b"(", b")", b",", b"!=", b"==", b"!", b">", b"/"),
    ),
    ByteReader(
        "field-selector",
        lambda data: parse_field_selector(text_of(data)),
        (KubeError,),
        (b"metadata.name=a,status.phase!=b\\,c",),
        (b"\\", b"\\=", b",", b"!=", b"=="),
    ),
    ByteReader("quantity", lambda data: parse(text_of(data)), (KubeError,), (b"1.5Gi", b"-1e3")),
    ByteReader(
        "json-patch",
        _json_patch,
        (JsonSyntaxError, KubeError),
        (b'[{"op":"add","path":"/spec/containers/-","value":{}},{"op":"test","path":"/kind"}]',),
        (b'"move"', b'"copy"', b'"remove"', b'"from":', b"~1", b"~0", b"/-", b"/0", *_JSON_WORDS),
    ),
    ByteReader("merge-patch", _merge_patch, (JsonSyntaxError, KubeError), (_JSON,), _JSON_WORDS),
    ByteReader("review", _review, (UnreadableJson, ReviewError, RecursionError), (_REVIEW,)),
    ByteReader("token", lambda data: parse_token(text_of(data)), (NotAToken,), (_token(),)),
    ByteReader(
        "pem", _pem, (), (b"-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n",)
    ),
    ByteReader(
        "accept",
        lambda data: media_clauses(text_of(data)),
        (),
        (b"application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5, */*",),
    ),
    ByteReader(
        "request-target",
        _target,
        (UnreadablePath, ValueError),
        (b"/apis/apps/v1/namespaces/a/deployments/b/scale?watch=1&labelSelector=a%3Db",),
        (b"/watch/", b"/proxy/", b"%2F", b"%", b"?", b"&", b";"),
    ),
    ByteReader("dump", _dump, (), (_JSON + b"\n" + _JSON, _YAML, b"\x1f\x8b\x08"), (b"\n---\n",)),
    ByteReader("etcd-snapshot", _snapshot, (), (_SNAPSHOT,)),
    ByteReader("audit-log", _audit_log, (), (_EVENT, _WHITE_SPACE)),
    ByteReader(
        "project",
        _project,
        (ConfigError,),
        (b'[check]\npolicies = ["a/*.yaml"]\n[profile.b]\nkubernetes-version = "1.36"\n',),
        (b'"""', b"'''", b"[[", b"]]", b" = ", b"inf", b"0x", b"1979-05-27", b"{", b"}"),
    ),
    ByteReader(
        "kept-result",
        _kept_result,
        (DamagedResultError,),
        (
            b'{"celadonVersion":"0.1.0","result":{"source":{"name":"a"},"parts":[["KeysPart",[0,1]]]}}',
        ),
    ),
    *SERVER_READERS,
    *SMALL_READERS,
    *POLICY_READERS,
)
"""In no order."""
