"""Random heads of requests: methods, paths, parameters, `Accept` and impersonation headers, to our
server and to a real one.

Nothing is stored: whatever could be written is absent, and what is sent is refused. Bodies come
with any content type. What a server tells of itself (its version, keys and addresses) is not asked
for. The groups of definitions that are left over show in discovery: it is for a new server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Final

from tests.fuzz.servers import Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference

MAPS: Final = "/api/v1/namespaces/fuzz-heads/configmaps"
METHODS: Final = ("GET", "GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "FOO")
PATHS: Final = (
    *("/apis", "/apis/", "/api/v1", "/api/v2", "/api/v1/foo", "/api/v1/foo/bar"),
    *("/apis/apps", "/apis/apps/", "/apis/apps/v1", "/apis/apps/v2", "/apis/foo", "/apis/foo/v1"),
    *("/healthz", "/livez/ping", "/healthz/foo", "/foo", "/foo/bar", "/swaggerapi", "/logs"),
    *("/api/v1/watch", "/api/v1/watch/namespaces", "/api/v1/proxy", "/api/v1/namespaces//pods"),
    *(MAPS, f"{MAPS}/", f"{MAPS}/absent", f"{MAPS}/A_b", f"{MAPS}/a%2Fb", f"{MAPS}/%2e%2e"),
    *(f"{MAPS}/absent/status", f"{MAPS}/absent/foo", "/api/v1/namespaces/./absent", "//api/v1"),
    *("/api/v1/namespaces/absent/status", "/api/v1/namespaces/absent/finalize"),
    *("/api/v1/namespaces/fuzz-heads/pods/absent/log", "/api/v1/nodes/absent/proxy"),
    *("/apis/apps/v1/namespaces/fuzz-heads/deployments/absent/scale", "/apis/apps/v1/watch/x"),
    *("/apis/coordination.k8s.io/v1/leases", "/apis/rbac.authorization.k8s.io/v1/foo"),
)
QUERIES: Final = (
    *("", "", "", "pretty", "pretty=0", "pretty=true", "pretty=abc", "dryRun=x", "dryRun="),
    *("dryRun=All", "dryRun=All&dryRun=x", "fieldManager=" + "x" * 129, "fieldManager=%01"),
    *("fieldValidation=x", "timeout=x", "timeout=1s", "timeout=-1s", "foo=bar", "limit=x"),
    *("limit=-1", "limit=a;b", "labelSelector=%zz", "a=b;c=d&limit=x", "labelSelector=no%3Dsuch"),
    *("gracePeriodSeconds=x", "gracePeriodSeconds=-1", "propagationPolicy=x", "force=x"),
    *("orphanDependents=true&propagationPolicy=Orphan", "resourceVersion=x", "continue=x"),
    *("resourceVersionMatch=Exact", "watch=x&timeoutSeconds=1", "force=true", "kind=x"),
)
_DISCOVERY: Final = "as=APIGroupDiscoveryList;g=apidiscovery.k8s.io"
ACCEPTS: Final = (
    *("application/json", "application/json", "", "*/*", "application/yaml", "application/xml"),
    *("application/json;q=0", "application/json;q=0.1,application/yaml;q=0.9", "text/*", ",,"),
    *("application/yaml;q=0.5, application/json;q=0.5", "application/json;q=abc", "a", "a/b/c"),
    *("application/cbor", "application/json;;", "APPLICATION/JSON", "application/json,"),
    *("application/json;as=Table;g=meta.k8s.io;v=v1", "application/vnd.kubernetes.protobuf"),
    *(f"application/json;v={one};{_DISCOVERY}" for one in ("v2", "v2beta1", "v3")),
    *(f"application/{one};v=v2;{_DISCOVERY}" for one in ("yaml", "cbor", "json;profile=x")),
    "application/json;as=Foo;v=v2;g=apidiscovery.k8s.io",
)
WHOS: Final = (
    *([()] * 4),
    (("impersonate-user", "bob"),),
    (("impersonate-user", "bob"), ("impersonate-group", "system:masters")),
    (("impersonate-user", "bob"), ("impersonate-uid", "5")),
    (("impersonate-user", "bob"), ("impersonate-extra-a%2fb", "x")),
    (("impersonate-user", "bob"), ("impersonate-extra-%zz", "x")),
    (("impersonate-user", "system:anonymous"),),
    (("impersonate-user", "system:serviceaccount:default:default"),),
    (("impersonate-user", "system:serviceaccount:a_b:c"),),
    (("impersonate-group", "g"),),
    (("impersonate-uid", "5"),),
    (("impersonate-extra-foo", "x"),),
    (("impersonate-foo", "x"),),
)
TYPES: Final = (
    *("application/json", "application/json", "application/json;charset=latin1", "text/plain", ""),
    *("application/yaml", "application/xml", "APPLICATION/JSON", "application/json;", "json"),
    *("application/merge-patch+json", "application/json-patch+json", "application/cbor"),
    *("application/apply-patch+yaml", "application/strategic-merge-patch+json"),
)
BODIES: Final = (b"", b"{}", b"[]", b"null", b"x", b'{"kind":"X"}', b'{"metadata":{"name":"A_b"}}')


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many requests, one by one."""
    chance = Random(seed)
    for server in (ours, real):
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "fuzz-heads"}})
    for _ in range(count):
        method, path = chance.choice(METHODS), chance.choice(PATHS)
        query = chance.choice(QUERIES)
        headers = {"accept": chance.choice(ACCEPTS), **dict(chance.choice(WHOS))}
        body = b""
        if method in ("POST", "PUT", "PATCH", "DELETE"):
            body = chance.choice(BODIES)
            headers["content-type"] = chance.choice(TYPES)
        if "/watch" in path:  # else it would be watched for half an hour
            query = f"{query}&timeoutSeconds=1".lstrip("&")
        target = f"{path}?{query}" if query else path
        shown = [told(server.ask(method, target, body, headers)) for server in (ours, real)]
        same = shown[0] == shown[1]
        sent = json.dumps([headers, body.decode()])
        yield None if same else Difference(method, target, sent, *shown)
