"""What the server reads of its network: connections, requests of all kinds, credentials, answers.

The first byte of an input for `requests` says which request it is the body of.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import functools
import json
from typing import Any, Final

from celadon.admission.webhooks.hooks import CallError, Reply
from celadon.admission.webhooks.reviews import read_answer
from celadon.apiserver.api_settings import AccessSettings
from celadon.apiserver.assembly import ApiServer
from celadon.apiserver.authn.authentication import read_token_file
from celadon.apiserver.authn.client_certificates import CertificateRefused, certificate_user
from celadon.apiserver.authn.service_account_tokens import (
    ServiceAccountTokens,
    SignerOnDemand,
    TokenRefused,
)
from celadon.apiserver.authn.signed_tokens import SignedToken, encoded
from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.apiserver.handlers.request_context import Notes
from celadon.apiserver.http.request_bytes import (
    BodyReader,
    ChunkedBody,
    RequestRefused,
    SizedBody,
    UnreadableTarget,
    head_end,
    read_head,
    request_target,
)
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.webhook_routes import as_json
from celadon.kube.certificate_requests import request_fault
from celadon.kube.protobuf import encode
from celadon.kube.x509 import DerError, authority_of
from celadon.storage import open_memory
from tests.admission.webhooks.test_outgoing_reviews import begun
from tests.fuzz.byte_reader import ByteReader

# --- Connections -------------------------------------------------------------


def _requests_of(unread: bytearray, pieces: int) -> list[tuple[object, ...]]:
    """The requests that come in so many pieces, and how it ends."""
    found = list[tuple[object, ...]]()
    coming, unread = unread, bytearray()
    step = max(1, -(-len(coming) // pieces))
    head, body, content, target = None, None, bytearray(), None
    for start in range(0, len(coming), step):
        unread += coming[start : start + step]
        try:
            while True:
                if head is None:
                    end = head_end(unread, 0)
                    if end < 0:
                        break
                    head = read_head(bytes(unread[:end]))
                    del unread[:end]
                    target = request_target(head.method.encode(), head.target.encode("latin-1"))
                    body, content = _body_of(head.chunked, head.length), bytearray()
                assert body is not None
                if not body.is_whole:
                    content += body.take(unread)
                if not body.is_whole:
                    break
                found.append((head.method, target, tuple(head.headers), bytes(content)))
                head = None
        except (RequestRefused, UnreadableTarget) as error:
            return [*found, (type(error).__name__,)]
    return found


def _body_of(chunked: bool, length: int) -> BodyReader:
    return ChunkedBody() if chunked else SizedBody(length)


def _connection(data: bytes) -> None:
    """However the bytes come, they are the same requests."""
    whole = _requests_of(bytearray(data), 1)
    in_pieces = _requests_of(bytearray(data), 7)
    assert whole == in_pieces, (whole, in_pieces)


# --- Requests ----------------------------------------------------------------

DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"
WIDGETS: Final = "/apis/example.com/v1/namespaces/default/widgets"
JSON: Final = "application/json"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "fuzzed", "labels": {"a": "b"}, "ownerReferences": [], "finalizers": []},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "env": [{"name": "A", "value": "b"}],
                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                "livenessProbe": {"httpGet": {"port": "http", "path": "/"}},
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                "securityContext": {"runAsUser": 1, "capabilities": {"add": ["X"]}},
            }
        ],
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}],
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute"}],
        "affinity": {"nodeAffinity": {}},
    },
}
DEPLOYMENT: Final[dict[str, Any]] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d", "labels": {"a": "b"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]},
    },
}
DEFINITION: Final[dict[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.n",
                        "statusReplicasPath": ".status.n",
                    },
                },
                "additionalPrinterColumns": [
                    {"name": "n", "type": "integer", "jsonPath": ".spec.n"}
                ],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "x-kubernetes-validations": [{"rule": "self.n < 5"}],
                                "properties": {
                                    "n": {"type": "integer", "default": 1, "maximum": 9},
                                    "text": {"type": "string", "pattern": "^a*$", "nullable": True},
                                    "either": {"x-kubernetes-int-or-string": True},
                                    "list": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["key"],
                                        "items": {
                                            "type": "object",
                                            "required": ["key"],
                                            "properties": {
                                                "key": {"type": "string"},
                                                "value": {"type": "number"},
                                            },
                                        },
                                    },
                                    "set": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "string"},
                                    },
                                    "free": {
                                        "type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True,
                                    },
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}
WIDGET: Final[dict[str, Any]] = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w"},
    "spec": {
        "n": 3,
        "text": "aa",
        "either": "1",
        "list": [{"key": "a", "value": 1.5}, {"key": "b"}],
        "set": ["x", "y"],
        "free": {"a": [1, {"b": None}]},
    },
}
POLICY: Final[dict[str, Any]] = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "p"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["apps"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["deployments"],
                }
            ]
        },
        "variables": [{"name": "n", "expression": "object.spec.replicas"}],
        "validations": [{"expression": "variables.n < 5", "messageExpression": "'no'"}],
        "auditAnnotations": [{"key": "k", "valueExpression": "'v'"}],
    },
}
DRY: Final = "dryRun=All"
_USERS: Final = "admin-token,admin,admin-uid,system:masters\n"
_LIST_PATCH: Final = (
    b'{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x"},{"$patch":"delete",'
    b'"name":"y"}],"$setElementOrder/containers":[{"name":"c"}],"tolerations":[{"$patch":"replace"}]}}}}'
)
REQUESTS: Final[tuple[tuple[str, str, str, bytes], ...]] = tuple(
    (method, path, form, body if isinstance(body, bytes) else json.dumps(body).encode())
    for method, path, form, body in (
        ("POST", f"/api/v1/namespaces/default/pods?{DRY}", JSON, POD),
        ("POST", f"/api/v1/namespaces/default/pods?{DRY}", PROTOBUF, encode(POD)),
        ("PUT", f"{DEPLOYMENTS}/d?{DRY}", JSON, DEPLOYMENT),
        ("PUT", f"{DEPLOYMENTS}/d?{DRY}", PROTOBUF, encode(DEPLOYMENT)),
        ("PATCH", f"{DEPLOYMENTS}/d?{DRY}", "application/strategic-merge-patch+json", _LIST_PATCH),
        (
            "PATCH",
            f"{DEPLOYMENTS}/d?{DRY}",
            "application/json-patch+json",
            [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "x"}],
        ),
        ("PATCH", f"{DEPLOYMENTS}/d?{DRY}", "application/merge-patch+json", {"spec": {"a": None}}),
        (
            "PATCH",
            f"{DEPLOYMENTS}/d?{DRY}&fieldManager=m&force=true",
            "application/apply-patch+yaml",
            DEPLOYMENT,
        ),
        (
            "PATCH",
            f"{WIDGETS}/w?{DRY}&fieldManager=m&force=true",
            "application/apply-patch+yaml",
            WIDGET,
        ),
        (
            "POST",
            f"{WIDGETS}?{DRY}&fieldValidation=Strict",
            JSON,
            {**WIDGET, "metadata": {"name": "x"}},
        ),
        (
            "PUT",
            f"{WIDGETS}/w?{DRY}",
            "application/yaml",
            b"apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {n: 2}\n",
        ),
        ("PATCH", f"{WIDGETS}/w?{DRY}", "application/merge-patch+json", {"spec": {"list": []}}),
        (
            "POST",
            f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions?{DRY}",
            JSON,
            json.dumps(DEFINITION).replace("idget", "adget").encode(),
        ),
        (
            "POST",
            f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?{DRY}",
            JSON,
            POLICY,
        ),
        (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            JSON,
            {
                "spec": {
                    "resourceAttributes": {"verb": "get", "fieldSelector": {"rawSelector": "a"}}
                }
            },
        ),
        ("DELETE", f"{DEPLOYMENTS}/d?{DRY}", JSON, {"preconditions": {"uid": "x"}}),
        ("GET", "{text}", "", b"/api/v1/pods?labelSelector=a%3Db&fieldSelector=x%3Dy&limit=5"),
        ("GET", "{text}", "", b"/apis/apps/v1/deployments?continue=abc&resourceVersion=0"),
    )
)
_SEEDS: Final = tuple(bytes([number]) + one[3] for number, one in enumerate(REQUESTS))


class _Server:
    """In this thread; nothing runs between two requests."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.server: ApiServer = self.loop.run_until_complete(self._started())
        for path, body in (
            (DEPLOYMENTS, DEPLOYMENT),
            ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION),
            (WIDGETS, WIDGET),
        ):
            code, content = self.answer("POST", path, JSON, json.dumps(body).encode())
            assert code == 201, content
            self.loop.run_until_complete(self.server.controllers.settled())

    async def _started(self) -> ApiServer:
        store = open_memory(carry=self.loop.call_soon_threadsafe)
        access = AccessSettings(
            SignerOnDemand(new_elliptic_key), read_token_file(_USERS, "tokens.csv")
        )
        server = ApiServer(store, access, None)
        await server.start()
        return server

    def answer(self, method: str, path: str, form: str, body: bytes) -> tuple[int, bytes]:
        headers = [("authorization", "Bearer admin-token"), ("content-type", form)]
        request = HttpRequest(method, path, headers, body)
        answering = self.server._layers.answered(request, Notes())  # raises what `handle` hides
        found = self.loop.run_until_complete(answering)
        return found.code, found.body


@functools.cache
def _server() -> _Server:
    return _Server()


def _request(data: bytes) -> None:
    """Whatever is wrong is an answer: nothing is raised that would be a panic."""
    method, path, form, _ = REQUESTS[data[0] % len(REQUESTS) if data else 0]
    body = data[1:]
    if method == "GET":
        if b"watch" in body.lower() or b"/proxy" in body:
            return
        path, body = "/" + body.decode("latin-1").strip().lstrip("/"), b""
    _server().answer(method, path, form, body)


# --- Credentials and answers -------------------------------------------------


class _Objects:
    def get(self, resource: object, namespace: str, name: str) -> Any:
        found = {"name": name, "namespace": namespace, "uid": "u"}
        return {"metadata": found} if name == "a" else None


class _Trusting:
    def verify(self, token: SignedToken) -> None:
        """Whatever it says: what is behind the signature is read."""


_NOW: Final = datetime.datetime(2027, 1, 2, tzinfo=datetime.UTC)
_TOKENS: Final = ServiceAccountTokens(("i",), ("api",), _Trusting(), _Objects())  # type: ignore[arg-type]
_CLAIMS: Final = (
    b'{"iss":"i","aud":["api"],"exp":1799020800,"iat":1798848000,"nbf":1798848000,"jti":"j",'
    b'"sub":"s","kubernetes.io":{"namespace":"n","serviceaccount":{"name":"a","uid":"u"},'
    b'"pod":{"name":"a","uid":"u"},"node":{"name":"a","uid":"u"},"warnafter":1798848000}}'
)


def _claims(data: bytes) -> None:
    head = encoded(b'{"alg":"ES256","kid":"k"}')
    _TOKENS.authenticate(f"{head}.{encoded(data)}.{encoded(b's')}", ("api",), _NOW)


_CERTIFICATE: Final = base64.b64decode(
    "MIIBpTCCAUugAwIBAgIBBTAKBggqhkjOPQQDAjAfMQ0wCwYDVQQKDARkZXZzMQ4wDAYDVQQDDAVhbGljZTAeFw0y"
    "NjExMjQxODA0MTZaFw0zNjExMjExODA0MTZaMB8xDTALBgNVBAoMBGRldnMxDjAMBgNVBAMMBWFsaWNlMFkwEwYH"
    "KoZIzj0CAQYIKoZIzj0DAQcDQgAEj6RZIHSxnRhDTVdBtlrc9WZtt3C3VG1ZRIgbRvcElt3o6oiJglLQ2nmNSX1R"
    "WBjbiwI8L9me7axFJZETn3DN0aN4MHYwHQYDVR0OBBYEFPix5O8bOlYDS1is1Uv+dG3W0oPUMB8GA1UdIwQYMBaA"
    "FPix5O8bOlYDS1is1Uv+dG3W0oPUMA8GA1UdEwEB/wQFMAMBAf8wEwYDVR0lBAwwCgYIKwYBBQUHAwIwDgYDVR0P"
    "AQH/BAQDAgeAMAoGCCqGSM49BAMCA0gAMEUCICbCaHFb+OvXvlVGu7Hw3srKoV5d5F4aoKnrkQiGy+O0AiEAv8mi"
    "WoruRAOruoOgoFhaHZqSEofj40KAdqM7AevH3cA="
)
"""For `alice` of `devs`, valid at `_NOW`."""


_CLEARED_HEAD, _CLEARED_END = (
    f"-----{word} CERTIFICATE REQUEST-----\n".encode() for word in ("BEGIN", "END")
)
_REQUEST: Final = base64.b64decode(
    "MIIBATCBqAIBADAfMQ0wCwYDVQQKDARkZXZzMQ4wDAYDVQQDDAVhbGljZTBZMBMGByqGSM49AgEGCCqGSM49AwEH"
    "A0IABMSDLU7EW1CCGZXy3lOkTncDQG2DQUuaHLu5xdTJpBDfmHXgv5IdxZReD6fPsVUTQqUlUWG8l1pHYOBxo4ch"
    "f3SgJzAlBgkqhkiG9w0BCQ4xGDAWMBQGA1UdEQQNMAuCA2EuYocEAQIDBDAKBggqhkjOPQQDAgNIADBFAiBRDQ+w"
    "tCgUrW6D4+IJhCU4HJUY18hmuEq/9e3HzvTt1AIhAPAdeqOoDkC1yaHdDVPe/+hxyDs8nANvuPTFfIm1wOmd"
)
"""Of `alice`, with other names; an elliptic key has signed it."""


def _authority(data: bytes) -> None:
    authority_of(data)
    certificate_user(data, _NOW)


def _webhook_answer(data: bytes) -> None:
    mutating = data[:1] != b"v"
    read_answer(begun(), Reply(200, data[1:]), as_json, mutating=mutating)


_ANSWER: Final = (
    b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u",'
    b'"allowed":true,"patchType":"JSONPatch","patch":"W10=","warnings":["w"],"status":{"code":403,'
    b'"details":{"causes":[{"field":"f"}]}},"auditAnnotations":{"a":"b"}}}'
)
_PIPELINED: Final = (
    b"POST /api/v1/pods?a=b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nAccept: a/b\r\n"
    b"\r\n5;x=y\r\nhello\r\n0\r\nTrailer: t\r\n\r\nGET http://h:1/x HTTP/1.1\r\nhost: h\r\n"
    b"Content-Length: 2\r\n folded\r\n\r\nab"
)

SERVER_READERS: Final = (
    ByteReader(
        "http",
        _connection,
        (),
        (
            _PIPELINED,
            b"GET / HTTP/1.0\nConnection: keep-alive\n\nGET * HTTP/1.1\r\nHost:\r\n\r\n",
            b"CONNECT [::1]:8 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
            b"Content-Length: 1\r\n\r\nx",
        ),
        (
            b"\r\n",
            b"\r\n\r\n",
            b"Content-Length: 1\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Host: a\r\n",
            b"HTTP/1.1",
            b"0\r\n\r\n",
            b"ffff\r\n",
            b"\n",
            b"\r",
            b": ",
            b"%zz",
        ),
    ),
    ByteReader(
        "requests",
        _request,
        (),
        _SEEDS,
        (
            *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"-1", b"1e99", b"1.5"),
            *(b'"$patch":"delete"', b'"$retainKeys":[]', b'"metadata":', b'"spec":', b'"name":'),
            *(b'"$deleteFromPrimitiveList/finalizers":["a"]', b'"managedFields":', b'"f:spec":{}'),
            *(
                b'"generateName":"g-"',
                b'"resourceVersion":"1"',
                b'"x-kubernetes-',
                b'"enum":',
                b"{}",
            ),
            *(b'"type":"integer"', b'"allOf":[{}]', b'"items":', b'"rule":"', b"self.", b"\\u0000"),
        ),
        warms_up=True,
    ),
    ByteReader("token-claims", _claims, (TokenRefused,), (_CLAIMS,), (b"1e400", b"NaN", b"-1")),
    ByteReader(
        "certificate-request",
        lambda data: request_fault(_CLEARED_HEAD + base64.encodebytes(data) + _CLEARED_END),
        (),
        (_REQUEST,),
        (b"\x30\x82", b"\x06\x03\x55\x1d\x11", b"\x02\x81\x81\x00", b"\xa0\x00"),
    ),
    ByteReader("certificate", _authority, (DerError, CertificateRefused), (_CERTIFICATE,)),
    ByteReader(
        "webhook-answer",
        _webhook_answer,
        (CallError,),
        (
            b"m" + _ANSWER,
            b"v" + _ANSWER,
            b"mapiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n",
        ),
        (b'"response":', b'"status":', b"null", b'"patch":"', b"{", b"}", b"[]"),
    ),
)
