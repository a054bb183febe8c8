"""Every file that a command reads, in every role, and what may stand in it instead.

A role is a command line with the name of a file in it. A content fits none of the formats, or is
more than anybody writes. Each role meets each content: the answer names the file, or there is
nothing wrong with it; it takes bounded time and memory.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.hostile.hostile_case import (
    BROKEN,
    CONFIG_MAP,
    DENIED,
    OK,
    UNREADABLE,
    Content,
    HostileCase,
    policy,
    texts,
)

_LONG: Final = 50 << 20
_DEPTH: Final = 100_000
_MEGABYTES: Final = 1200
"""For a line of 50 MB, which is held as bytes, as text and as what is read from it."""
NOT_READING: Final = frozenset({"completion", "envtest", "init", "library", "lsp", "playground"})
"""Commands that read no file of a format."""
NOWHERE: Final = "192.0.2.1:1"
"""An address that no machine has: a webhook ends when it has read its files."""
_ENDING: Final = "--listen 127.0.0.1:0 --kubeconfig-out /proc/nowhere/config"
"""A file that nobody can write: a server ends when it has read the others."""


@dataclass(frozen=True, slots=True)
class FileRole:
    """`arguments` name `file`; `beside` are the other files that the command needs."""

    name: str
    arguments: tuple[str, ...]
    file: str
    beside: Mapping[str, str] = field(default_factory=dict)


def _role(line: str, file: str, name: str = "", **beside: str) -> FileRole:
    """The words of a line; names of files beside have `_` for their dot."""
    files = {_BESIDE[key]: text for key, text in beside.items()}
    return FileRole(name or line, tuple(line.split()), file, files)


_BESIDE: Final = {
    "rules": "rules.json",
    "object": "object.json",
    "admission": "admission.yaml",
    "suite": "suite.yaml",
    "fleet": "fleet.yaml",
    "tests": "kyverno-test.yaml",
}
_RULES: Final = policy("object == object")
_OBJECT: Final = texts(CONFIG_MAP)
_ADMISSION: Final = json.dumps(
    {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "PodSecurity", "path": "plugin.yaml"}],
    }
)
_STATIC: Final = _ADMISSION.replace("PodSecurity", "ValidatingAdmissionPolicy").replace(
    '"path": "plugin.yaml"',
    '"configuration": {"apiVersion": "apiserver.config.k8s.io/v1",'
    ' "kind": "ValidatingAdmissionPolicyConfiguration",'
    ' "staticManifestsDir": "/proc/self/cwd/static"}',
)
_FLEET: Final = json.dumps(
    {
        "apiVersion": "celadon.dev/v1",
        "kind": "Fleet",
        "sources": [{"name": "a", "dumps": ["dump.jsonl"]}],
    }
)
_CLUSTERS: Final = _FLEET.replace('"dumps": ["dump.jsonl"]', '"kubeconfig": "config.yaml"')
_KYVERNO: Final = json.dumps(
    {
        "apiVersion": "cli.kyverno.io/v1alpha1",
        "kind": "Test",
        "metadata": {"name": "t"},
        "policies": ["policy.yaml"],
        "resources": ["policy.yaml"],
        "results": [
            {
                "policy": "p",
                "isValidatingAdmissionPolicy": True,
                "kind": "ConfigMap",
                "resources": ["c"],
                "result": "pass",
            }
        ],
    }
)
_SERVE: Final = f"serve {_ENDING} --data :memory:"
_WEBHOOK: Final = f"webhook --listen {NOWHERE}"

ROLES: Final = (
    _role("check -f rules.json f.yaml", "f.yaml", rules=_RULES),
    _role("check -f rules.json f.json", "f.json", rules=_RULES),
    _role("check -f f.yaml object.json", "f.yaml", object=_OBJECT),
    _role("check --operation UPDATE --old f.yaml object.json", "f.yaml", object=_OBJECT),
    _role("check --apply --old f.yaml object.json", "f.yaml", object=_OBJECT),
    _role("check --admission-control-config-file f.yaml object.json", "f.yaml", object=_OBJECT),
    _role(
        "check --admission-control-config-file admission.yaml object.json",
        "plugin.yaml",
        "check: a plugin's configuration",
        object=_OBJECT,
        admission=_ADMISSION,
    ),
    _role(
        "check --admission-control-config-file admission.yaml object.json",
        "static/f.yaml",
        "check: a static policy",
        object=_OBJECT,
        admission=_STATIC,
    ),
    _role(
        "check -f rules.json --webhook-answers answers object.json",
        "answers/a.example.com.yaml",
        rules=_RULES,
        object=_OBJECT,
    ),
    _role("check object.json", "celadon.toml", "check: celadon.toml", object=_OBJECT),
    _role("check object.json", "pyproject.toml", "check: pyproject.toml", object=_OBJECT),
    _role("explain -f rules.json f.yaml", "f.yaml", rules=_RULES),
    _role("explain -f rules.json --from f.json", "f.json", rules=_RULES),
    _role("audit -f rules.json f.jsonl", "f.jsonl", rules=_RULES),
    _role("audit -f rules.json f.json", "f.json", rules=_RULES),
    _role("audit -f rules.json f.yaml", "f.yaml", rules=_RULES),
    _role("audit -f rules.json f.tar.gz", "f.tar.gz", rules=_RULES),
    _role("audit -f rules.json f.jsonl.gz", "f.jsonl.gz", rules=_RULES),
    _role("audit -f f.yaml object.json", "f.yaml", object=_OBJECT),
    _role("audit -f rules.json --kubeconfig f.yaml", "f.yaml", rules=_RULES),
    _role("audit -f rules.json --etcd-snapshot f.db", "f.db", rules=_RULES),
    _role("audit -f rules.json --fleet f.yaml", "f.yaml", rules=_RULES),
    _role(
        "audit -f rules.json --fleet fleet.yaml",
        "dump.jsonl",
        "audit: a fleet's dump",
        rules=_RULES,
        fleet=_FLEET,
    ),
    _role(
        "audit -f rules.json --fleet fleet.yaml",
        "config.yaml",
        "audit: a fleet's kubeconfig",
        rules=_RULES,
        fleet=_CLUSTERS,
    ),
    _role("replay -f rules.json f.log", "f.log", rules=_RULES),
    _role("replay -f rules.json f.log.gz", "f.log.gz", rules=_RULES),
    _role("replay -f f.yaml object.json", "f.yaml", object=_OBJECT),
    _role("diff f.yaml rules.json", "f.yaml", rules=_RULES),
    _role("migrate -o out f.yaml", "f.yaml"),
    _role("eval 1 --object f.yaml", "f.yaml"),
    _role("eval 1 --old-object f.json", "f.json"),
    _role("eval 1 --params f.yaml", "f.yaml"),
    _role("fmt f.yaml", "f.yaml"),
    _role("fmt --check f.json", "f.json"),
    _role("fmt f.yaml", "celadon.toml", "fmt: celadon.toml"),
    _role("lint f.yaml", "f.yaml"),
    _role("lint f.json -o sarif", "f.json"),
    _role("lint --fix f.yaml", "f.yaml"),
    _role("lint object.json", "celadon.toml", "lint: celadon.toml", object=_OBJECT),
    _role("prove f.yaml", "f.yaml"),
    _role("schema list -f f.yaml", "f.yaml"),
    _role("schema list --pack f.pack", "f.pack"),
    _role("schema build openapi --to o.pack", "openapi/v1.json", "schema build: a document"),
    _role("schema build https://127.0.0.1:1 --to o.pack --token-file f", "f"),
    _role("schema build https://127.0.0.1:1 --to o.pack --ca-file f.pem", "f.pem"),
    _role("simulate-bootstrap f.yaml", "f.yaml"),
    _role("test f.policytest.yaml", "f.policytest.yaml"),
    _role("test kyverno-test.yaml", "kyverno-test.yaml"),
    _role("test kyverno-test.yaml", "policy.yaml", "test: a policy", tests=_KYVERNO),
    _role("test tests.json", "tests.json"),
    _role("test suite.yaml", "suite.yaml"),
    _role("test tests.yaml", "tests.yaml"),
    _role("test f.json --expect admit", "f.json"),
    _role("test import kyverno-test.yaml --stdout", "kyverno-test.yaml"),
    _role("test import tests.json --stdout", "tests.json"),
    _role("test import suite.yaml --stdout", "suite.yaml"),
    _role("test init f.yaml --stdout", "f.yaml"),
    _role("webhook manifest -f f.yaml", "f.yaml"),
    _role("webhook manifest -f rules.json --ca-bundle f.pem", "f.pem", rules=_RULES),
    _role("data check f.db", "f.db"),
    _role("data backup f.db other.db", "f.db"),
    _role("data restore f.db other.db", "f.db"),
    _role(f"{_WEBHOOK} -f f.yaml", "f.yaml"),
    _role(f"{_WEBHOOK} -f rules.json --tls-cert-file f.pem --tls-private-key-file f.pem", "f.pem"),
    _role(f"{_WEBHOOK} -f rules.json --client-ca-file f.pem", "f.pem", rules=_RULES),
    _role(f"{_WEBHOOK} --from-cluster --kubeconfig f.yaml", "f.yaml"),
    _role(f"serve {_ENDING} --data f.db", "f.db"),
    _role(f"{_SERVE} --manifests f.yaml", "f.yaml"),
    _role(f"{_SERVE} --openapi-descriptions f.json", "f.json"),
    _role(f"{_SERVE} --admission-control-config-file f.yaml", "f.yaml"),
    _role(
        f"{_SERVE} --admission-control-config-file admission.yaml",
        "plugin.yaml",
        "serve: a plugin's configuration",
        admission=_ADMISSION,
    ),
    _role(
        f"{_SERVE} --admission-control-config-file admission.yaml",
        "static/f.yaml",
        "serve: a static policy",
        admission=_STATIC,
    ),
    _role(f"{_SERVE} --token-auth-file f.csv", "f.csv"),
    _role(f"{_SERVE} --client-ca-file f.pem", "f.pem"),
    _role(f"{_SERVE} --tls-cert-file f.pem --tls-private-key-file f.pem", "f.pem"),
    _role(f"{_SERVE} --service-account-signing-key-file f.pem", "f.pem"),
    _role(f"{_SERVE} --service-account-key-file f.pem", "f.pem"),
    _role(f"{_SERVE} --proxy-client-cert-file f.pem --proxy-client-key-file f.pem", "f.pem"),
    _role(f"{_SERVE} --requestheader-client-ca-file f.pem", "f.pem"),
    _role(f"{_SERVE} --audit-policy-file f.yaml --audit-log a.log", "f.yaml"),
    _role(
        f"serve {_ENDING} --credentials . --etcd-servers https://127.0.0.1:1 --etcd-cafile f.pem",
        "f.pem",
    ),
)


def _aliases() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    return "\n".join(lines)


def _zeros(count: int) -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=9) as file:
        for _ in range(count >> 20):
            file.write(bytes(1 << 20))
    return made.getvalue()


def _archive() -> bytes:
    """Members that lead out of the folder, and a link."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name in ("../../escaped.json", "/tmp/escaped.json", "resources/pods/../../../e.json"):
            member = tarfile.TarInfo(name)
            member.size = len(_OBJECT)
            archive.addfile(member, io.BytesIO(_OBJECT.encode()))
        link = tarfile.TarInfo("resources/link.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        huge = tarfile.TarInfo("resources/huge.json")
        huge.size = 0
        huge.pax_headers = {"size": "9" * 15}
        archive.addfile(huge)
    return made.getvalue()


CONTENTS: Final[dict[str, Content]] = {
    "nothing": lambda: "",
    "zero bytes": lambda: bytes(1000),
    "100,000 lists": lambda: "[" * _DEPTH,
    "100,000 lists that end": lambda: "[" * _DEPTH + "]" * _DEPTH,
    "100,000 objects": lambda: '{"a":' * _DEPTH + "1" + "}" * _DEPTH,
    "a list of 50 MB": lambda: "[" + "1," * (_LONG // 2) + "1]",
    "a text of 50 MB": lambda: '"' + "x" * _LONG + '"',
    "a line of 50 MB": lambda: "x" * _LONG,
    "aliases of aliases": _aliases,
    "a list": lambda: "[1, 2]",
    "a number": lambda: "42",
    "null": lambda: "null",
    "a text": lambda: '"text"',
    "a list of nulls": lambda: "[null, [], {}]",
    "an object of oddities": lambda: '{"": null, "kind": 7, "apiVersion": [], "metadata": 1}',
    "no UTF-8": lambda: b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \xff\xfe}\n",
    "UTF-16": lambda: "a: 1\n".encode("utf-16"),
    "a day that there is not": lambda: "a: 2001-13-45\nb: 2001-01-01T99:99:99Z\n",
    "such a day in TOML": lambda: "policies = 2001-13-45\n",
    "a day in TOML": lambda: "policies = 2001-11-05\nkubernetes-version = 10:00:00\n",
    "a huge number": lambda: '{"kind": ' + "9" * 10_000 + "}",
    "a huge number in TOML": lambda: "policies = " + "9" * 10_000 + "\n",
    "a huge hexadecimal number in TOML": lambda: "policies = 0x" + "f" * 10_000 + "\n",
    "a huge exponent": lambda: '{"kind": 1e999999999, "a": -1e-999999999}',
    "no number": lambda: '{"kind": NaN, "a": Infinity, "b": -Infinity}',
    "no number of YAML": lambda: "kind: .nan\na: -.inf\n",
    "no number of TOML": lambda: "policies = nan\nexclude = [inf]\n",
    "a key twice": lambda: '{"kind": "A", "kind": "B", "apiVersion": "v1", "apiVersion": "v2"}',
    "a key twice in TOML": lambda: "policies = []\npolicies = []\n",
    "tables in tables of TOML": lambda: "[" + ".".join(["a"] * 20_000) + "]\nb = 1\n",
    "lists in lists of TOML": lambda: "policies = " + "[" * _DEPTH,
    "half a character": lambda: '{"kind": "\\ud800", "\\udfff": "\\ud800\\ud800"}',
    "a tag of Python": lambda: "kind: !!python/object/apply:os.system [id]\n",
    "a key that is a list": lambda: "? [1, {a: 2}]\n: 1\n? {b: 1}\n: 2\n",
    "a key that is its own": lambda: "&a [*a]\n",
    "control characters": lambda: "\x1b[31m\x07\x00\u202e\u2028: \x85\n",
    "a bomb of gzip": lambda: _zeros(600 << 20),
    "an archive that leads out": _archive,
    "a beginning of a database": lambda: b"SQLite format 3\x00" + b"\xff" * 5000,
    "an empty block of PEM": lambda: (
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"
    ),
    "blocks of PEM with junk": lambda: (
        (
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
            "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----\n"
        )
        * 2000
    ),
    "commas and quotes": lambda: 'a,"b\n' * 1000 + ",,,\n" + '""","' * 1000,
}


def cases(*, sample: int = 1) -> list[HostileCase]:
    """Each content in each role; with a `sample`, every so-manieth."""
    found = [_case(role, name) for role in ROLES for name in CONTENTS]
    return found[::sample]


def _case(role: FileRole, content: str) -> HostileCase:
    beside = {name: (lambda text=text: text) for name, text in role.beside.items()}
    return HostileCase(
        f"{role.name}: {content}",
        role.arguments,
        {**beside, role.file: CONTENTS[content]},
        frozenset({OK, DENIED, UNREADABLE, BROKEN}),
        seconds=30.0 if "50 MB" in content or "bomb" in content else 10.0,
        megabytes=_MEGABYTES if "50 MB" in content or "bomb" in content else 500,
    )
