"""Random rights: roles and bindings with odd rules, who may then do what, what they may grant, whom
they may act as, and what reviews say of it; to our server and a real one.

Each scenario stores a few roles and bindings for one user, and asks a number of questions as that
user or about it. A real server looks at bindings in an order of its own, so rules of reviews have
none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from tests.fuzz.servers import Sent, Server
from tests.fuzz.texts import told
from tests.fuzz.writes import Difference, random_changes

Json = Any
RBAC: Final = "rbac.authorization.k8s.io"
ACCESS: Final = "authorization.k8s.io/v1"
JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"

VERBS: Final = (
    *("get", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
    *("*", "*", "impersonate", "bind", "escalate", "approve", "sign", "", "GET", "é"),
    *("impersonate:user-info", "impersonate-on:user-info:get", "impersonate:serviceaccount"),
    *("impersonate-on:serviceaccount:list", "impersonate-on:user-info:create", "impersonate:*"),
    *("impersonate:arbitrary-node", "impersonate-on:arbitrary-node:list"),
)
GROUPS: Final = (
    "",
    "",
    "",
    "apps",
    RBAC,
    RBAC,
    "*",
    "authorization.k8s.io",
    "authentication.k8s.io",
)
RESOURCES: Final = (
    *("pods", "pods/log", "pods/status", "pods/*", "*", "*/status", "*/*", "*/scale", "configmaps"),
    *("configmaps", "secrets", "roles", "clusterroles", "rolebindings", "clusterrolebindings"),
    *("users", "groups", "userextras/a", "userextras/a.b/c", "uids", "serviceaccounts", "nodes"),
    *("deployments/scale", "subjectaccessreviews", "", "Pods", "userextras/*", "userextras"),
)
NAMES: Final = ("a", "b", "m", "*", "", "r0", "rb0", "system:masters", "g", "u2", "default")
URLS: Final = (
    *("/healthz", "/healthz/*", "*", "/a/*", "/*", "/version", "/a", "/a*", "/metrics", "/a/b"),
    *("", "a", "/a*b", "*/a", "/**", "/a/**", "/api", "/apis/*", "/openapi/v3*"),
)
TOKEN_REQUEST: Final = {"spec": {"expirationSeconds": 3600}}
SUBJECT_NAMES: Final = ("g", "g", "system:authenticated", "other", "u2", "", "system:masters")


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many scenarios, request by request."""
    for number in range(count):
        yield from _Scenario(ours, real, f"rights-{seed}-{number}", seed, number).told()


class _Scenario:
    """A namespace, a user of its name, and what that user is granted."""

    def __init__(self, ours: Server, real: Server, name: str, seed: int, number: int) -> None:
        self.servers = (ours, real)
        self.name = name
        self.chance = Random(f"{seed}-{number}")
        self.space = f"/api/v1/namespaces/{name}"
        self.local = f"/apis/{RBAC}/v1/namespaces/{name}"
        self.everywhere = f"/apis/{RBAC}/v1"
        self.wrote = False
        self.tokens: list[str] = []

    def told(self) -> Iterator[Difference | None]:
        """Store roles, then ask."""
        for server in self.servers:
            server.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.name}})
            server.call("POST", f"{self.space}/serviceaccounts", {"metadata": {"name": "a"}})
            token = server.call("POST", f"{self.space}/serviceaccounts/a/token", TOKEN_REQUEST)
            self.tokens.append(token.body["status"]["token"])
            for name in ("a", "b", "m"):
                server.call("POST", f"{self.space}/configmaps", {"metadata": {"name": name}})
        try:
            for path, body in self._grants():
                yield self._asked("POST", path, body, {})
            for server in self.servers:
                server.settle()
            for _ in range(30):
                yield self._question()
        finally:
            for server in self.servers:
                for path in ("clusterrolebindings", "clusterroles"):
                    for index in range(4):
                        name = f"{self.name}-r{index}"
                        server.call("DELETE", f"{self.everywhere}/{path}/{name}")
                server.call("DELETE", self.space)

    # --- what is granted ---

    def _some(self, values: tuple[str, ...], most: int = 3) -> list[str]:
        return [self.chance.choice(values) for _ in range(self.chance.randint(1, most))]

    def _rule(self) -> Json:
        chance = self.chance
        rule: Json = {"verbs": self._some(VERBS, 4)}
        if chance.random() < 0.2:
            rule["nonResourceURLs"] = self._some(URLS)
            if chance.random() < 0.85:
                return rule
        rule["apiGroups"] = self._some(GROUPS, 2)
        rule["resources"] = self._some(RESOURCES)
        if chance.random() < 0.3:
            rule["resourceNames"] = self._some(NAMES, 2)
        if chance.random() < 0.04:
            del rule[chance.choice(list(rule))]
        return rule

    def _role(self, kind: str, name: str) -> Json:
        chance = self.chance
        role: Json = {"metadata": {"name": name}}
        if chance.random() < 0.95:
            role["rules"] = [self._rule() for _ in range(chance.randint(0, 3))]
        if kind == "ClusterRole" and chance.random() < 0.15:
            labels = chance.choice(({"a": "b"}, {}, {"-": "b"}, {"a": "b c"}))
            role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": labels}]}
            if chance.random() < 0.2:
                role["aggregationRule"] = chance.choice(({}, {"clusterRoleSelectors": []}))
        return role

    def _subject(self) -> Json:
        chance = self.chance
        kind = chance.choice(("User", "User", "Group", "ServiceAccount", "ServiceAccount", "X"))
        if kind == "ServiceAccount":
            subject = {"kind": kind, "name": chance.choice(("a", "a", "A_b", ""))}
            if chance.random() < 0.8:
                subject["namespace"] = chance.choice((self.name, self.name, "other", "A_b"))
        else:
            name = self.name if kind == "User" else chance.choice(SUBJECT_NAMES)
            subject = {"kind": kind, "name": name}
        if chance.random() < 0.2:
            subject["apiGroup"] = chance.choice((RBAC, "", "x"))
        if kind == "X" and chance.random() < 0.7:
            subject["kind"] = "User"
        return subject

    def _binding(self, name: str, roles: tuple[str, ...]) -> Json:
        chance = self.chance
        subjects = [
            {"kind": "User", "name": self.name},
            {"kind": "ServiceAccount", "name": "a", "namespace": self.name},
        ]
        if chance.random() < 0.3:
            subjects = [self._subject() for _ in range(chance.randint(0, 2))]
        kind = chance.choice(("Role", "ClusterRole", "ClusterRole"))
        ref = {"apiGroup": RBAC, "kind": kind, "name": chance.choice(roles)}
        if chance.random() < 0.1:
            ref[chance.choice(list(ref))] = chance.choice(
                ("", "x", "Role", "A_b", "a/b", "..", RBAC)
            )
        return {"metadata": {"name": name}, "subjects": subjects, "roleRef": ref}

    def _role_names(self) -> tuple[str, ...]:
        return (f"{self.name}-r0", f"{self.name}-r1", "r0", "r1", "view", "cluster-admin", "none")

    def _grants(self) -> Iterator[tuple[str, Json]]:
        for index in range(2):
            name = f"{self.name}-r{index}"
            yield f"{self.everywhere}/clusterroles", self._role("ClusterRole", name)
            yield f"{self.local}/roles", self._role("Role", f"r{index}")
        roles = self._role_names()[:4]
        binding = self._binding(f"{self.name}-r0", roles[:2])
        yield f"{self.everywhere}/clusterrolebindings", binding
        yield f"{self.local}/rolebindings", self._binding("rb0", roles)
        if self.chance.random() < 0.3:
            yield f"{self.local}/rolebindings", self._binding("rb1", self._role_names())

    # --- what is asked ---

    def _question(self) -> Difference | None:
        chance = self.chance
        ways: list[Callable[[], Difference | None]] = [
            self._review,
            self._own_review,
            self._rules,
            self._write,
            self._write,
            self._do,
            self._acting,
        ]
        found = chance.choice(ways)()
        if self.wrote:
            self.wrote = False
            for server in self.servers:
                server.settle()
        return found

    def _who(self) -> dict[str, str]:
        chance = self.chance
        who = {"impersonate-user": self.name}
        if chance.random() < 0.2:
            account = f"system:serviceaccount:{self.name}:a"
            who["impersonate-user"] = chance.choice((account, account, "u2"))
        if chance.random() < 0.2:
            who["impersonate-group"] = chance.choice(("g", "other", "system:unauthenticated"))
        return who

    def _resource(self) -> Json:
        chance = self.chance
        resource, _, sub = chance.choice(RESOURCES).partition("/")
        found: Json = {"resource": resource, "verb": chance.choice(VERBS)}
        if sub or chance.random() < 0.2:
            found["subresource"] = sub or chance.choice(("status", "log", "scale", "*"))
        if chance.random() < 0.6:
            found["group"] = chance.choice(GROUPS)
        if chance.random() < 0.6:
            found["namespace"] = chance.choice((self.name, self.name, "other", "", "*"))
        if chance.random() < 0.5:
            found["name"] = chance.choice(NAMES)
        if chance.random() < 0.2:
            found["version"] = chance.choice(("v1", "*", ""))
        if chance.random() < 0.15:
            found["fieldSelector"] = self._selector()
        if chance.random() < 0.15:
            found["labelSelector"] = self._selector()
        return found

    def _selector(self) -> Json:
        chance = self.chance
        selector: Json = {}
        if chance.random() < 0.5:
            raw = ("a=b", "a", "a in (b,c)", "a!=b", "=", "a b", "", "a=b,", "!a", "a>1", "a\\,b=c")
            selector["rawSelector"] = chance.choice(raw)
        if chance.random() < 0.6:
            operators = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "", "x")
            selector["requirements"] = [
                {
                    "key": chance.choice(("a", "", "a b", "metadata.name")),
                    "operator": chance.choice(operators),
                    **({"values": self._some(NAMES, 2)} if chance.random() < 0.6 else {}),
                }
                for _ in range(chance.randint(0, 2))
            ]
        return selector

    def _attributes(self) -> Json:
        chance = self.chance
        spec: Json = {}
        if chance.random() < 0.75:
            spec["resourceAttributes"] = self._resource()
        if not spec or chance.random() < 0.05:
            path = chance.choice((*URLS, "/a/b/c", "/apis/apps/v1"))
            spec["nonResourceAttributes"] = {"path": path, "verb": chance.choice(VERBS)}
        return spec

    def _review(self) -> Difference | None:
        chance = self.chance
        spec = self._attributes()
        if chance.random() < 0.9:
            account = f"system:serviceaccount:{self.name}:a"
            spec["user"] = chance.choice((self.name, self.name, self.name, account, "u2", ""))
        if chance.random() < 0.4:
            spec["groups"] = self._some(SUBJECT_NAMES, 2)
        if chance.random() < 0.1:
            spec |= {"uid": "i", "extra": {"A/b": ["c"], "d": []}}
        kind, path = "SubjectAccessReview", f"/apis/{ACCESS}/subjectaccessreviews"
        if chance.random() < 0.3:
            kind = "LocalSubjectAccessReview"
            path = f"/apis/{ACCESS}/namespaces/{self.name}/localsubjectaccessreviews"
        return self._asked("POST", path, {"apiVersion": ACCESS, "kind": kind, "spec": spec}, {})

    def _own_review(self) -> Difference | None:
        path = f"/apis/{ACCESS}/selfsubjectaccessreviews"
        body = {"apiVersion": ACCESS, "kind": "SelfSubjectAccessReview", "spec": self._attributes()}
        return self._asked("POST", path, body, self._who())

    def _rules(self) -> Difference | None:
        spec = self.chance.choice(({"namespace": self.name}, {"namespace": self.name}, {}, None))
        body = {"apiVersion": ACCESS, "kind": "SelfSubjectRulesReview", "spec": spec}
        return self._asked("POST", f"/apis/{ACCESS}/selfsubjectrulesreviews", body, self._who())

    def _write(self) -> Difference | None:
        """A write to a role or binding, by who may lack what it grants."""
        chance = self.chance
        who = self._who() if chance.random() < 0.85 else {}
        roles, everywhere = chance.random() < 0.5, chance.random() < 0.5
        root = self.everywhere if everywhere else self.local
        base = ("cluster" if everywhere else "") + ("roles" if roles else "rolebindings")
        index = chance.randint(0, 2)
        prefix = "r" if roles else "rb"
        name = f"{self.name}-r{index}" if everywhere else f"{prefix}{index}"
        kind = ("Cluster" if everywhere else "") + ("Role" if roles else "RoleBinding")
        body = self._role(kind, name) if roles else self._binding(name, self._role_names())
        body = {"apiVersion": f"{RBAC}/v1", "kind": kind, **body}
        if chance.random() < 0.25:
            for change in random_changes(body, chance):
                change.made(body)
        way = chance.random()
        query = "?dryRun=All" if chance.random() < 0.8 else ""
        self.wrote = not query
        if way < 0.35:
            return self._asked("POST", f"{root}/{base}{query}", body, who)
        path = f"{root}/{base}/{name}{query}"
        if way < 0.6:
            return self._asked("PUT", path, body, who)
        if way < 0.75:
            part = chance.choice([key for key in body if key not in ("apiVersion", "kind")])
            return self._asked("PATCH", path, {part: body[part]}, who, MERGE)
        if way < 0.9:
            path += ("&" if query else "?") + "fieldManager=f&force=true"
            return self._asked("PATCH", path, body, who, APPLY)
        return self._asked("DELETE", f"{root}/{base}/{name}?dryRun=All", None, who)

    def _do(
        self, who: Mapping[str, str] | None = None, *, as_account: bool = False
    ) -> Difference | None:
        """Any request that may be forbidden; nothing is changed."""
        chance = self.chance
        maps, pods = f"{self.space}/configmaps", f"{self.space}/pods"
        method, path = chance.choice((
            ("GET", maps), ("GET", f"{maps}/a"), ("GET", f"{maps}/n"), ("GET", f"{pods}/a/log"),
            ("GET", f"{maps}?fieldSelector=metadata.name%3Da"), ("GET", f"{maps}?labelSelector=a"),
            ("GET", f"{maps}?fieldSelector=metadata.name%3Da&watch=true&timeoutSeconds=1"),
            ("DELETE", f"{maps}?dryRun=All"), ("DELETE", f"{maps}/a?dryRun=All"),
            ("POST", f"{maps}?dryRun=All"), ("PATCH", f"{maps}/m?dryRun=All"),
            ("PATCH", f"{maps}/n?dryRun=All&fieldManager=f"), ("PUT", f"{maps}/n?dryRun=All"),
            ("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Dabsent"), ("GET", "/healthz"),
            ("GET", "/apis/apps/v1/x"), ("GET", "/a"),
            ("GET", "/a/b"), ("POST", "/a"), ("GET", "/apis"), ("GET", "/healthz/ping"),
            ("GET", "/metrics/x"),
            ("GET", f"/apis/apps/v1/namespaces/{self.name}/deployments/a/scale"),
            ("GET", "/apis/foo/v1/bars/baz/qux"), ("GET", f"/api/v1/namespaces/{self.name}/foo/x"),
            ("GET", f"{self.space}"), ("PUT", f"{self.space}/status?dryRun=All"),
            ("POST", f"{self.space}/serviceaccounts/a/token?dryRun=All"), ("GET", "/<b>&"),
            ("GET", f"/api/v1/watch/namespaces/{self.name}/configmaps/a?timeoutSeconds=1"),
        ))  # fmt: skip
        body: Json = None
        content = JSON
        if method in ("POST", "PUT", "PATCH"):
            name = path.partition("?")[0].rpartition("/")[2] if method != "POST" else "n"
            kind = "Namespace" if path.startswith(f"{self.space}/status") else "ConfigMap"
            body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
            if method == "PATCH":
                content = APPLY if "fieldManager" in path else MERGE
        return self._asked(
            method, path, body, self._who() if who is None else who, content, as_account=as_account
        )

    def _acting(self) -> Difference | None:
        """Somebody without all rights acts as somebody else."""
        chance = self.chance
        names = (
            *("u2", "a", "g", "system:masters", "system:anonymous", "system:node:a", ""),
            *(f"system:serviceaccount:{self.name}:b", "system:serviceaccount:x", "system:node:"),
        )
        who: dict[str, str] = {"impersonate-user": chance.choice(names)}
        if chance.random() < 0.4:
            who["impersonate-group"] = chance.choice(
                ("g", "a", "system:masters", "", "system:nodes")
            )
        if chance.random() < 0.25:
            who["impersonate-uid"] = chance.choice(("a", "i", ""))
        if chance.random() < 0.3:
            key = chance.choice(("a", "a.b%2fc", "a.b%2fC", "A.b%2fc", "", "%zz", "a.b%2fc%2fd"))
            who[f"impersonate-extra-{key}"] = chance.choice(("a", "b", ""))
        return self._do(who, as_account=True)

    def _asked(
        self,
        method: str,
        path: str,
        body: Json,
        who: Mapping[str, str],
        content: str = JSON,
        *,
        as_account: bool = False,
    ) -> Difference | None:
        headers = {"accept": JSON, **who}
        if body is not None:
            headers["content-type"] = content
        data = b"" if body is None else json.dumps(body).encode()
        shown = []
        for server, token in zip(self.servers, self.tokens, strict=True):
            own = {"authorization": f"Bearer {token}"} if as_account else {}
            shown.append(_said(server.ask(method, path, data, headers | own)))
        if shown[0] == shown[1]:
            return None
        return Difference(method, path, f"{dict(who)}\n    {data.decode()}", *shown)


_ALLOWED: Final = re.compile(r"RBAC: allowed by [^,}]*")
_MISSING: Final = re.compile(r"(?<=\[)(?:role|clusterrole)\.[^]]*not found(?=\])")


def _said(reply: Sent) -> str:
    """The answer, with what depends on the order of bindings in order of its texts."""
    if b'"SelfSubjectRulesReview"' in reply.data:
        body = json.loads(reply.data)
        for field in ("resourceRules", "nonResourceRules"):
            rules = body.get("status", {}).get(field)
            if rules:
                body["status"][field] = sorted(filter(_is_upstreams, rules), key=json.dumps)
        reply = Sent(reply.code, reply.headers, json.dumps(body).encode(), reply.warnings)
    text = _ALLOWED.sub("RBAC: allowed", told(reply))
    return _MISSING.sub(lambda match: ", ".join(sorted(match[0].split(", "))), text)


def _is_upstreams(rule: Json) -> bool:
    """Return False for what everybody may read by a role of some builds of a real server."""
    return bool(rule.get("nonResourceURLs") != ["/.well-known", "/.well-known/*"])
