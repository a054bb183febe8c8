"""Readers of short texts, each a language of its own, and of files that an operator names."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from celadon.admission.plugins.admission_configuration import BadConfiguration
from celadon.apiserver.audit import AuditPolicyError, read_audit_policy
from celadon.apiserver.authn.authentication import TokenFileError, read_token_file
from celadon.apiserver.clientconfig import KubeconfigError, read_kubeconfigs
from celadon.apiserver.operation.runtime_config import read_admission_file
from celadon.apiserver.request_info import ContinueTokenError, read_continue_token
from celadon.cel import CelError
from celadon.cel.values.netaddr import AddrError, parse_addr, parse_prefix
from celadon.cel.values.timestamps import parse_duration, parse_timestamp
from celadon.cli.audit.audit_inputs import given_inputs
from celadon.cli.reading.documents import DocumentReader
from celadon.kube.fieldmanager.managed_fields import EntryError, decoded
from celadon.kube.go import JsonSyntaxError, read_json
from celadon.kube.go.go_text import parse_media_type
from celadon.kube.go.go_time import DurationError
from celadon.kube.go.go_time import parse_duration as parse_kube_duration
from celadon.kube.go.go_url import URLError, parse, parse_request_uri
from celadon.kube.jsonpath import JSONPathError, parse_jsonpath
from celadon.kube.library.semver import SemverError
from celadon.kube.library.semver import parse as parse_version
from celadon.kube.name_rules import dns1035_label, dns1123_subdomain, label_value, qualified_name
from celadon.kube.validation.cron_schedule import ScheduleError, parse_schedule
from tests.fuzz.byte_reader import ByteReader, text_of

_FOLDER: Final = tempfile.TemporaryDirectory(prefix="celadon-fuzz-")


def _names(data: bytes) -> None:
    text = text_of(data)
    for rule in (dns1123_subdomain, dns1035_label, qualified_name, label_value):
        rule(text)


def _url(data: bytes) -> None:
    text = text_of(data)
    try:
        parse(text)
    finally:
        parse_request_uri(text)


def _times(data: bytes) -> None:
    text = text_of(data)
    parse_duration(text)
    parse_timestamp(text)
    parse_kube_duration(text)


def _address(data: bytes) -> None:
    """What is an address is the same when it is written and read again."""
    text = text_of(data)
    if "/" in text:
        parse_prefix(text)
        return
    found = parse_addr(text)
    assert parse_addr(str(found)) == found


def _file(name: str, data: bytes) -> str:
    path = Path(_FOLDER.name, name)
    path.write_bytes(data)
    return str(path)


def _archive(data: bytes) -> None:
    reader = DocumentReader()
    for content in (data, gzip.compress(data, 1), b"\x1f\x8b" + data):
        for block in given_inputs([_file("backup", content)]).blocks():
            for piece in block.pieces():
                if hasattr(piece, "objects"):
                    list(piece.objects(reader))


def _small_archive(form: int) -> bytes:
    made = io.BytesIO()
    content = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for number in range(2):
            name = f"resources/configmaps/namespaces/{'n' * 90 * number or 'ns'}/a.json"
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
        link = tarfile.TarInfo("resources/pods/cluster/a.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return made.getvalue().rstrip(b"\0") + bytes(512)


SMALL_READERS: Final = (
    ByteReader("names", _names, (), (b"a.b-c/d_E", b"example.com/x"), (b"/", b".", b"-", b"_")),
    ByteReader(
        "semver",
        lambda data: parse_version(text_of(data)),
        (SemverError,),
        (b"1.2.3-alpha.1+build.7",),
        (b".", b"-", b"+", b"0", b"v"),
    ),
    ByteReader(
        "schedule",
        lambda data: parse_schedule(text_of(data)),
        (ScheduleError,),
        (b"*/5 1-3,7 ? JAN-DEC MON", b"@every 1h30m", b"TZ=UTC @daily"),
        (b"*/", b"-", b",", b"@every ", b"CRON_TZ=", b" ", b"?"),
    ),
    ByteReader(
        "times",
        _times,
        (DurationError, CelError),
        (b"1h30m2.5s", b"2026-01-02T03:04:05.678+01:30", b"-9223372036854775808ns"),
        ("µs".encode(), b"ns", b"h", b"T", b"Z", b"+24:60", b"9999", b".", b"24"),
    ),
    ByteReader(
        "url",
        _url,
        (URLError,),
        (b"https://u:p@[::1%25eth0]:80/a/../b?c=d&e#f%20g", b"//h/p", b"mailto:a@b"),
        (b"%", b"%zz", b"[", b"]", b"://", b"@", b"?", b"#", b"//", b":"),
    ),
    ByteReader(
        "address",
        _address,
        (AddrError,),
        (b"::ffff:1.2.3.4%eth0", b"10.0.0.0/8", b"fe80::1/64", b"1.2.3.4"),
        (b"::", b":", b".", b"/", b"%", b"ffff", b"0", b"255"),
    ),
    ByteReader(
        "media-type",
        lambda data: parse_media_type(text_of(data)),
        (),
        (b'application/json; charset="utf-8"; a*0="b"; a*1*=%20c',),
        (b";", b"=", b'"', b"\\", b"*", b"/"),
    ),
    ByteReader(
        "jsonpath",
        lambda data: parse_jsonpath(text_of(data)),
        (JSONPathError,),
        (b"{.spec.a[?(@.b=='c')].d[0:2:1]['e','f']..g}", b'{range .items[*]}{"x"}{end}'),
        (b"{", b"}", b"[", b"]", b"?(", b"@", b"..", b"*", b"'", b'"', b"\\", b"range "),
    ),
    ByteReader(
        "continue-token",
        lambda data: read_continue_token(text_of(data)),
        (ContinueTokenError,),
        (b"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhL2IifQ",),
        (b"=", b"-", b"_", b"\n"),
    ),
    ByteReader(
        "managed-fields",
        lambda data: decoded(read_json(text_of(data)).value),
        (EntryError, JsonSyntaxError),
        (
            b'[{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2026-01-02T03:04:05Z",'
            b'"fieldsType":"FieldsV1","subresource":"s","fieldsV1":{".":{},"f:a":{"k:{\\"n\\":1}":'
            b'{},"v:\\"x\\"":{},"i:3":{}}}}]',
        ),
        (b'"f:', b'"k:{', b'"v:', b'"i:', b'".":{}', b"{", b"}", b"null", b"\\", b'"Update"'),
    ),
    ByteReader(
        "kubeconfig",
        lambda data: read_kubeconfigs([Path(_file("kubeconfig", data))]),
        (KubeconfigError,),
        (
            b"clusters: [{name: a, cluster: {server: 'https://h', "
            b"certificate-authority-data: YQ==}}]\n"
            b"users: [{name: u, user: {token: t, exec: {command: c, env: [{name: x}]}}}]\n"
            b"contexts: [{name: c, context: {cluster: a, user: u}}]\ncurrent-context: c\n",
        ),
        (b"null", b"[]", b"{}", b": ", b"- ", b"1"),
    ),
    ByteReader(
        "audit-policy",
        lambda data: read_audit_policy(text_of(data)),
        (AuditPolicyError,),
        (
            b"apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n"
            b"- level: Metadata\n  users: [a]\n  resources: [{group: apps, resources: [pods/*]}]\n"
            b"- level: None\n  nonResourceURLs: [/a*]\n",
        ),
        (b"- ", b": ", b"null", b"[]", b"{}", b"1", b"&a ", b"*a", b"!!binary x", b"2026-99-99"),
    ),
    ByteReader(
        "admission-file",
        lambda data: read_admission_file(Path(_file("admission.yaml", data))),
        (BadConfiguration, OSError, UnicodeError),
        (
            b"apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
            b"- name: PodSecurity\n  configuration:\n"
            b"    apiVersion: pod-security.admission.config.k8s.io/v1\n"
            b"    kind: PodSecurityConfiguration\n    defaults: {enforce: baseline}\n"
            b"    exemptions: {usernames: [a]}\n- name: ResourceQuota\n  path: admission.yaml\n",
        ),
        (
            b"- ",
            b": ",
            b"null",
            b"[]",
            b"{}",
            b"1",
            b"&a ",
            b"*a",
            b"!!binary x",
            b"EventRateLimit",
        ),
    ),
    ByteReader(
        "token-file",
        lambda data: read_token_file(text_of(data), "tokens.csv"),
        (TokenFileError,),
        (b'a,b,c,"d,e"\n\n# x\nf,g,h\n',),
        (b'"', b'""', b",", b"\n", b"\r\n", b"#"),
    ),
    ByteReader(
        "archive",
        _archive,
        (),
        tuple(_small_archive(form) for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, 2)),
        (bytes(100), b"ustar", b"resources/pods/cluster/a.json", b"0000777", b"99999999999\0"),
    ),
)
