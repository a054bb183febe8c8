"""Whatever manifests a folder holds, asked of our server and of a real one.

    python -m tests.fuzz.documents FOLDER ... --server https://127.0.0.1:6443 \\
        --ca-file ca.crt --token "$TOKEN"

Definitions are stored with the objects of their kinds, one after another, and so are objects of
built-in kinds: each is created from the text that stands in its file, read, replaced, applied by
two managers, patched, printed and deleted; then fields of it are changed at random. A text in a
document that holds an object is a document, too, and one that stands at `updated` beside one at
`initial` is what the other is replaced with. Policies are stored one by one with their bindings
and params, and meet all objects. Prints what is answered otherwise, once for each class.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote

from celadon.goyaml import SeparatorError, UnreadableError, first_document, yaml_parts
from celadon.kube import metadata
from celadon.kube.releases import answering_as
from celadon.kube.schemas.struct_decoding import codec_for
from tests.fuzz import definitions
from tests.fuzz.policy_decisions import NOT_POLICIES
from tests.fuzz.servers import (
    SENT_JSON,
    InProcess,
    OverHttps,
    Reply,
    Server,
    parsed_body,
    release_of,
)
from tests.fuzz.writes import KEYS, NUMBERS, TEXTS, random_changes

Json = Any
_YAML: Final = {"content-type": "application/yaml", "accept": "application/json"}
_TABLE: Final = {"accept": definitions.TABLE}
_MERGE: Final = {"content-type": definitions.MERGE}
_STRATEGIC: Final = {"content-type": "application/strategic-merge-patch+json"}
_APPLY: Final = {"content-type": definitions.APPLY}
_POLICIES: Final = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_NOT_STORED: Final = frozenset(
    {
        *("APIService", "FlowSchema", "MutatingWebhookConfiguration", "Namespace"),
        *("PriorityLevelConfiguration", "ValidatingWebhookConfiguration", "Node"),
        *(kind + suffix for kind in _POLICIES for suffix in ("", "Binding")),
    }
)
"""Kinds whose objects change what others are answered, or cannot be deleted at once."""
_GENERATED: Final = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}(?=[\\\"])")
_SHOWN: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|\d+|\[[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Document:
    """An object, its text in YAML if it stands in a file of its own, what it is replaced with."""

    obj: Json
    text: bytes = b""
    updated: tuple[Json, ...] = ()

    @property
    def kind(self) -> tuple[str, str]:
        """Its group and kind."""
        return self.obj["apiVersion"].rpartition("/")[0], self.obj["kind"]


def documents(folder: Path) -> list[Document]:
    """Return the documents of all files below a folder that can be read, each once."""
    found: dict[str, Document] = {}
    for path in sorted(
        one for one in folder.rglob("*") if one.suffix in (".yaml", ".yml", ".json")
    ):
        for one in _read(path.read_bytes()):
            found.setdefault(json.dumps([one.obj, one.updated], sort_keys=True), one)
    return list(found.values())


def _read(data: bytes) -> Iterator[Document]:
    parts = yaml_parts(data)
    while True:
        try:
            part = next(parts, None)
            if part is None:
                return
            yield from _inside(first_document(part).value, part)
        except SeparatorError:
            return
        except UnreadableError:
            continue  # a template


def _inside(value: Json, text: bytes = b"") -> Iterator[Document]:
    """All objects in a value: itself, items of lists, texts."""
    if isinstance(value, str):
        if "\n" in value and "apiVersion:" in value:
            yield from _read(value.encode())
    elif isinstance(value, list):
        for item in value:
            yield from _inside(item)
    elif isinstance(value, dict):
        if isinstance(value.get("initial"), str) and isinstance(value.get("updated"), str):
            before, after = (list(_read(value[key].encode())) for key in ("initial", "updated"))
            if before and after:
                yield Document(before[0].obj, before[0].text, (after[0].obj,))
        elif _is_object(value) and not (value["kind"].endswith("List") and "items" in value):
            yield Document(value, text)
        for inner in value.values():
            yield from _inside(inner)


def _is_object(value: Json) -> bool:
    version, kind, meta = (value.get(key) for key in ("apiVersion", "kind", "metadata"))
    return (
        isinstance(version, str)
        and isinstance(kind, str)
        and isinstance(meta, dict | None)
        and bool(version and kind)
    )


# --- What is asked -----------------------------------------------------------


@dataclass(slots=True)
class Comparison:
    """Both servers, what was asked of them, and what they answered otherwise."""

    ours: Server
    real: Server
    namespaces: set[str] = field(default_factory=lambda: {"default"})
    requests: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)

    def ask(
        self,
        method: str,
        path: str,
        body: Json = None,
        headers: Mapping[str, str] = SENT_JSON,
        *,
        ours: Json = None,
    ) -> list[Reply]:
        """Ask both, `ours` with a body of its own if it has one. What replaces an object gets each
        server's resourceVersion."""
        replies = []
        for server, sent in ((self.ours, ours or body), (self.real, body)):
            if isinstance(sent, bytes):
                answer = server.ask(method, path, sent, headers)
                replies.append(Reply(answer.code, parsed_body(answer.data), answer.warnings))
                continue
            changed = sent
            if method == "PUT" and isinstance(sent.get("metadata"), dict | None):
                stored = server.call("GET", path.partition("?")[0]).body.get("metadata") or {}
                version = {key: stored[key] for key in ("resourceVersion",) if key in stored}
                changed = {**sent, "metadata": {**(sent.get("metadata") or {}), **version}}
            replies.append(server.call(method, path, changed, headers))
        self.compare(method, path, body, replies)
        self._compare_order(method, path, body, headers, replies)
        return replies

    def _compare_order(
        self, method: str, path: str, body: Json, headers: Mapping[str, str], replies: list[Reply]
    ) -> None:
        """Complain if causes or warnings have an order that the real server does not choose, either
        if asked again. In custom resources they are in whatever order Go walks its maps."""
        is_built_in = isinstance(body, dict) and codec_for(metadata.gvk(body)) is not None
        ordered = [_ordered(reply) for reply in replies]
        if is_built_in and "dryRun" in path and _differ_in_order(ordered):
            again = (self.real.call(method, path, body, headers) for _ in range(6))
            if ordered[0] not in map(_ordered, again):
                self._complain(method, path, body, ordered)

    def compare(self, method: str, path: str, body: Json, replies: list[Reply]) -> None:
        """Complain if two answers differ."""
        self.requests[method] += 1
        for reply in replies:
            _mask(reply.body)
        told = [definitions.answer_text(reply) for reply in replies]
        if replies[1].audit is not None:
            told = [
                json.dumps([*json.loads(text), _audit(reply)])
                for text, reply in zip(told, replies, strict=True)
            ]
        if b"generateName" in (body if isinstance(body, bytes) else json.dumps(body).encode()):
            told = [_GENERATED.sub("-GENERATED", text) for text in told]
        if told[0] != told[1] and replies[1].body != {"message": "no answer"}:
            self._complain(method, path, body, told)

    def _complain(self, method: str, path: str, body: Json, told: list[str]) -> None:
        where = f"{method} {re.sub(r'/[^/?]*[?]', '/NAME?', path)}"
        apart = list(_apart(*map(json.loads, told)))
        name = f"{where.rpartition('/')[0]} {_SHOWN.sub('_', ' '.join(apart))}"
        self.classes[name[:300]] += 1
        if self.classes[name[:300]] == 1:
            shown = body.decode() if isinstance(body, bytes) else json.dumps(body)
            _write("\n".join(("", f"{method} {path}", shown, *(f"  {one}" for one in apart))))

    def namespace(self, name: str) -> None:
        """Create a namespace once."""
        if name not in self.namespaces:
            self.namespaces.add(name)
            for server in (self.ours, self.real):
                server.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    def deleted(self, path: str) -> None:
        """Delete an object, whoever holds it."""
        for server in (self.ours, self.real):
            server.call("DELETE", f"{path}?gracePeriodSeconds=0&propagationPolicy=Background")
            server.call("PATCH", path, {"metadata": {"finalizers": None}}, _MERGE)


def _audit(reply: Reply) -> dict[str, str]:
    """The annotations of a request's audit event that are admission's."""
    return {
        key: text
        for key, text in sorted((reply.audit or {}).items())
        if not key.startswith(NOT_POLICIES)
    }


def _ordered(reply: Reply) -> str:
    """The causes and the warnings of an answer, one after another as they were said."""
    body = reply.body if isinstance(reply.body, dict) else {}
    causes = (body.get("details") or {}).get("causes") or ()
    return json.dumps([0, [*(one.get("field") for one in causes), "|", *reply.warnings], []])


def _differ_in_order(answers: list[str]) -> bool:
    ours, real = (json.loads(answer)[1] for answer in answers)
    return ours != real and Counter(ours) == Counter(real)


def _mask(body: Json) -> None:
    """Take away what is a server's own: generated names, the order in which controllers met."""
    if isinstance(body, dict) and isinstance(body.get("metadata"), dict):
        if "generateName" in body["metadata"]:
            body["metadata"]["name"] = "GENERATED"
        if body.get("kind") == "CustomResourceDefinition":
            status = body.get("status") or {}
            status["conditions"] = sorted(
                status.get("conditions") or (), key=lambda one: str(one["type"])
            )


def _apart(ours: Json, real: Json, path: str = "") -> Iterator[str]:
    """Where two answers differ; of their bodies, only the message where one is refused."""
    if not path and ours[0] != real[0]:
        for name, (code, body, *_) in (("ours", ours), ("real", real)):
            told = body.get("message") or body.get("details") if isinstance(body, dict) else body
            yield f"{name} {code} {told if code != 200 else ''}"
        return
    if isinstance(ours, dict) and isinstance(real, dict):
        for key in sorted(ours.keys() | real.keys()):
            yield from _apart(ours.get(key), real.get(key), f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(real, list) and len(ours) == len(real):
        for one, other in zip(ours, real, strict=True):
            yield from _apart(one, other, f"{path}[]")
    elif ours != real:
        yield f"{path}: ours {json.dumps(ours)[:2000]}, real {json.dumps(real)[:2000]}"


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is asked: random changes of each object, objects of each kind, and whether it is
    what policies decide that is compared."""

    seed: int = 1
    twists: int = 4
    samples: int = 1000
    policies: bool = False


@dataclass(slots=True)
class Life:
    """The life of objects of one resource on both servers."""

    both: Comparison
    chance: Random
    schema: Json
    twists: int
    scaled: bool = False

    def lived(self, collection: str, document: Document, *, status: bool) -> None:
        obj, both = copy.deepcopy(document.obj), self.both
        meta = obj["metadata"] = obj.get("metadata") or {}
        if document.text:
            both.ask(
                "POST", f"{collection}?dryRun=All&fieldValidation=Strict", document.text, _YAML
            )
        if isinstance(meta.get("namespace"), str) and "/namespaces/" not in collection:
            del meta["namespace"]
        if not isinstance(meta.get("name"), str):
            meta["name"] = "cluster"
        self._changed("POST", collection, obj)
        if obj["kind"] in _NOT_STORED:
            return
        path = f"{collection}/{quote(meta['name'], safe=':')}"
        replies = both.ask("POST", f"{collection}?fieldManager=create", obj)
        if [reply.code for reply in replies] != [201, 201]:
            if any(reply.code == 201 for reply in replies):
                both.deleted(path)
            return
        try:
            self._used(collection, path, obj, document.updated, status=status)
        finally:
            both.deleted(path)

    def _used(
        self, collection: str, path: str, obj: Json, updated: tuple[Json, ...], *, status: bool
    ) -> None:
        ask = self.both.ask
        ask("GET", path, headers=_TABLE)
        for other in updated:
            new = {
                **other,
                "metadata": {**(other.get("metadata") or {}), "name": obj["metadata"]["name"]},
            }
            ask("PUT", f"{path}?dryRun=All&fieldValidation=Strict", new)
            if status:
                ask("PUT", f"{path}/status?dryRun=All", new)
        applied = {key: value for key, value in obj.items() if key != "status"}
        for query in ("", "&force=true", "&force=true"):
            ask("PATCH", f"{path}?fieldManager=apply{query}", applied, _APPLY)
        ask("PATCH", f"{path}?fieldManager=patch", {"metadata": {"labels": {"x": "y"}}}, _MERGE)
        ask("PUT", f"{path}?fieldManager=put&fieldValidation=Strict", obj)
        if status:
            content = {"status": obj.get("status") or {}}
            ask("PATCH", f"{path}/status?fieldManager=status", content, _MERGE)
        meta = {"metadata": {"name": obj["metadata"]["name"]}}
        kept = [server.call("GET", path).body for server in (self.both.ours, self.both.real)]
        self._changed("PUT", path, *({**one, **meta} for one in kept))
        self._changed("PATCH", path, applied, headers=_STRATEGIC if self.schema is None else _MERGE)
        if self.scaled:
            ask("GET", f"{path}/scale")
            for replicas in (2, -1):
                scale = {"spec": {"replicas": replicas}}
                ask("PATCH", f"{path}/scale?dryRun=All&fieldManager=scale", scale, _MERGE)
        ask("PATCH", f"{path}?fieldManager=apply&force=true", applied, _APPLY)
        ask("GET", f"{collection}?labelSelector=x%3Dy", headers=_TABLE)
        ask("GET", path)
        ask("DELETE", f"{path}?propagationPolicy=Background")

    def _changed(
        self, method: str, path: str, *objects: Json, headers: Mapping[str, str] = SENT_JSON
    ) -> None:
        """Dry runs of an object, as it is stored in each server, with the same random changes."""
        for _ in range(self.twists):
            changed = copy.deepcopy(objects)
            seed = self.chance.random()
            try:
                for one in changed:
                    self._twist(one, objects[-1], Random(seed))
            except (LookupError, TypeError, AttributeError):
                continue
            if "generateName" in (changed[-1].get("metadata") or {}):
                continue  # a server adds what it likes
            checked = self.chance.choice(("Strict", "Warn", "Ignore"))
            asked = f"{path}?dryRun=All&fieldValidation={checked}"
            self.both.ask(method, asked, changed[-1], headers, ours=changed[0])

    def _twist(self, changed: Json, obj: Json, chance: Random) -> None:
        if self.schema is None:
            for change in random_changes(obj, chance):
                if "clusterIPs" in change.path:
                    raise LookupError("each server has addresses of its own")
                change.made(changed)
        else:
            for _ in range(chance.choice((1, 1, 2))):
                twisted(changed, self.schema, chance)


# --- Values by a schema ------------------------------------------------------


def twisted(obj: Json, schema: Json, chance: Random) -> None:
    """Change one field of a custom resource, in most cases to what is not valid."""
    holder, key, inner = chance.choice(
        [one for one in _places(obj, schema) if one[0] is not obj or one[1] in ("spec", "status")]
        or [(obj, "spec", {})]
    )
    draw = chance.random()
    if draw < 0.2 and key in holder if isinstance(holder, dict) else draw < 0.2:
        del holder[key]
    elif draw < 0.27:
        holder[key] = None
    else:
        holder[key] = random_value(inner, chance)


def _places(value: Json, schema: Json) -> Iterator[tuple[Json, Any, Json]]:
    """Holder, key and schema of each field below, there or not."""
    if isinstance(value, dict):
        known = schema.get("properties") or {}
        more = schema.get("additionalProperties")
        more = more if isinstance(more, dict) else {}
        for key in sorted({*value, *known} - {"apiVersion", "kind", "metadata"}):
            inner = known.get(key, more)
            yield value, key, inner
            yield from _places(value.get(key), inner)
        yield value, "x-new", more
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield value, index, schema.get("items") or {}
            yield from _places(item, schema.get("items") or {})


def random_value(schema: Json, chance: Random, depth: int = 0) -> Json:
    """A value of a schema, or one at the edge of it, or another."""
    if chance.random() < 0.04:
        return copy.deepcopy(chance.choice(("x", 1, 1.5, -1, True, [], {}, None, [1], {"a": "b"})))
    if schema.get("enum") and chance.random() < 0.85:
        return chance.choice(schema["enum"])
    if "default" in schema and chance.random() < 0.2:
        return copy.deepcopy(schema["default"])
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        return chance.choice((*NUMBERS, *TEXTS, "50%"))
    if kind == "object":
        return _random_object(schema, chance, depth)
    if kind == "array":
        sizes = [0, 1, 2, 3, *(schema[key] for key in ("minItems", "maxItems") if key in schema)]
        size = chance.choice(sizes) + chance.choice((0, 0, 0, 1))
        items = schema.get("items") or {}
        made = [random_value(items, chance, depth + 1) for _ in range(min(size, 70))]
        return made + copy.deepcopy(made[:1]) if chance.random() < 0.2 else made
    if kind in ("integer", "number"):
        edges = [schema[key] for key in ("minimum", "maximum") if key in schema]
        return chance.choice((*NUMBERS[:8], *edges, *(one + 1 for one in edges), 1.5, 2))
    if kind == "boolean":
        return chance.random() < 0.5
    edges = [schema[key] for key in ("minLength", "maxLength") if key in schema]
    if edges and chance.random() < 0.3:
        return "a" * min(chance.choice(edges) + chance.choice((0, 1)), 5000)
    return chance.choice(TEXTS)


def _random_object(schema: Json, chance: Random, depth: int) -> Json:
    known, required = schema.get("properties") or {}, schema.get("required") or ()
    made = {
        key: random_value(inner, chance, depth + 1)
        for key, inner in known.items()
        if chance.random() < (0.93 if key in required else 0.3 if depth < 4 else 0.05)
    }
    more = schema.get("additionalProperties")
    for _ in range(chance.randrange(3) if isinstance(more, dict) else 0):
        made[chance.choice(KEYS)] = random_value(more, chance, depth + 1)
    return made


# --- The order of a folder ---------------------------------------------------


def played(both: Comparison, found: list[Document], extent: Extent) -> None:
    """Ask everything about the documents of a folder."""
    objects: dict[tuple[str, str], list[Document]] = {}
    for document in found:
        objects.setdefault(document.kind, []).append(document)
    crds = objects.pop(("apiextensions.k8s.io", "CustomResourceDefinition"), [])
    if extent.policies:
        _policies(both, crds, objects, extent)
        return
    for document in _distinct(crds):
        spec = document.obj["spec"]
        kind = (spec["group"], spec["names"]["kind"])
        _definition(both, document, objects.get(kind, []), extent)
    for documents_of_kind in objects.values():
        for document in documents_of_kind:
            _built_in(both, document, extent)


def _distinct(crds: list[Document]) -> Iterator[Document]:
    """Definitions that differ in more than descriptions."""
    seen = set()
    for document in crds:
        try:
            names = document.obj["spec"]["names"]["kind"], document.obj["spec"]["versions"][0]
            key = json.dumps([_bare(document.obj["spec"]), names[0]], sort_keys=True)
        except (LookupError, TypeError):
            continue
        if key not in seen:
            seen.add(key)
            yield document


def _bare(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: _bare(inner)
            for key, inner in value.items()
            if key != "description" or not isinstance(inner, str)
        }
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _definition(
    both: Comparison, document: Document, samples: list[Document], extent: Extent
) -> None:
    crd = copy.deepcopy(document.obj)
    path, name = definitions.PATH, crd["metadata"]["name"]
    if document.text:
        both.ask("POST", f"{path}?dryRun=All&fieldValidation=Strict", document.text, _YAML)
    crd["spec"].pop("conversion", None)
    crd["metadata"].pop("annotations", None) if "api-approved" not in str(crd) else None
    replies = both.ask("POST", f"{path}?fieldManager=create", crd)
    if [reply.code for reply in replies] != [201, 201]:
        both.deleted(f"{path}/{name}")
        return
    try:
        for server in (both.ours, both.real):
            definitions.wait_until_served(server, crd)
        _wait(both.real, f"{path}/{name}", '"Established", "status": "True"')
        if re.search(r"\b(k8s|kubernetes)\.io$", crd["spec"]["group"]):
            _wait(both.real, f"{path}/{name}", "KubernetesAPIApprovalPolicyConformant")
        both.ask("GET", f"{path}/{name}")
        spec = crd["spec"]
        for version in spec["versions"]:
            if version.get("served"):
                where = f"/apis/{spec['group']}/{version['name']}"
                _wait(both.real, where, f'"name": "{spec["names"]["plural"]}"')
                both.ask("GET", where)
                _published(both, f"/openapi/v3{where}", spec["names"]["kind"])
                _of_version(both, spec, version, samples, extent)
    finally:
        both.deleted(f"{path}/{name}")
        spec = crd["spec"]
        for version in spec["versions"]:
            where = f"/apis/{spec['group']}/{version['name']}"
            _wait(both.real, where, f'"name": "{spec["names"]["plural"]}"', gone=True)


def _published(both: Comparison, path: str, kind: str) -> None:
    """Compare the schemas of a kind in OpenAPI documents, without descriptions."""
    _wait(both.real, path, f'.{kind}"')
    replies = []
    for server in (both.ours, both.real):
        answer = server.call("GET", path)
        schemas = answer.body.get("components", {}).get("schemas", {})
        found = {name: schemas[name] for name in schemas if name.rpartition(".")[2] == kind}
        replies.append(Reply(answer.code, _bare(found)))
    both.compare("GET", path, None, replies)


def _wait(server: Server, path: str, text: str, *, gone: bool = False) -> None:
    """Wait until an answer holds a text: what a definition says is in effect a little later."""
    for _ in range(100):
        if (text in json.dumps(server.call("GET", path).body)) != gone:
            return
        time.sleep(0.1)


def _of_version(
    both: Comparison,
    spec: Json,
    version: Json,
    samples: list[Document],
    extent: Extent,
) -> None:
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    chance = Random(f"{extent.seed}{spec['names']['plural']}{version['name']}")
    subresources = version.get("subresources") or {}
    life = Life(both, chance, schema, extent.twists, "scale" in subresources)
    api_version = f"{spec['group']}/{version['name']}"
    taken = [one for one in samples if one.obj["apiVersion"] == api_version]
    for _ in range(extent.twists):
        made = _random_object({**schema, "additionalProperties": False}, chance, 0)
        meta = {"name": f"made-{chance.randrange(1000)}"}
        made = {**made, "apiVersion": api_version, "kind": spec["names"]["kind"], "metadata": meta}
        taken.append(Document(made))
    status = "status" in subresources
    for document in taken[: extent.samples]:
        space = ""
        if spec["scope"] == "Namespaced":
            space = f"/namespaces/{_namespace(both, document.obj)}"
        collection = f"/apis/{api_version}{space}/{spec['names']['plural']}"
        life.lived(collection, document, status=status)


def _namespace(both: Comparison, obj: Json) -> str:
    name = (obj.get("metadata") or {}).get("namespace")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name):
        return "default"
    both.namespace(name)
    return name


def _built_in(both: Comparison, document: Document, extent: Extent) -> None:
    collection = _collection(both, document.obj)
    if collection is None:
        return
    chance = Random(f"{extent.seed}{json.dumps(document.obj, sort_keys=True)}")
    resource = _resources(both, document.obj["apiVersion"])[document.obj["kind"]]
    life = Life(both, chance, None, extent.twists, resource["has_scale"])
    life.lived(collection, document, status=resource["has_status"])


_DISCOVERED: Final[dict[str, dict[str, Json]]] = {}


def _resources(both: Comparison, version: str) -> dict[str, Json]:
    """The resources of a version of an API that a real server has, by kind."""
    if version not in _DISCOVERED:
        base = "/apis" if "/" in version else "/api"
        answer = both.real.call("GET", f"{base}/{version}")
        listed = answer.body.get("resources", ()) if answer.code == 200 else ()
        names = {one["name"] for one in listed}
        _DISCOVERED[version] = {
            one["kind"]: {
                **one,
                "has_status": f"{one['name']}/status" in names,
                "has_scale": f"{one['name']}/scale" in names,
            }
            for one in listed
            if "/" not in one["name"]
        }
    return _DISCOVERED[version]


def _collection(both: Comparison, obj: Json) -> str | None:
    version = obj["apiVersion"]
    resource = _resources(both, version).get(obj["kind"])
    if (
        resource is None
        or codec_for(metadata.gvk(obj)) is None
        or "create" not in resource["verbs"]
    ):
        return None
    base = "/apis" if "/" in version else "/api"
    space = f"/namespaces/{_namespace(both, obj)}" if resource["namespaced"] else ""
    return f"{base}/{version}{space}/{resource['name']}"


# --- Policies ----------------------------------------------------------------


def _policies(
    both: Comparison,
    crds: list[Document],
    objects: dict[tuple[str, str], list[Document]],
    extent: Extent,
) -> None:
    group = "admissionregistration.k8s.io"
    policies = [(kind, one) for kind in _POLICIES for one in objects.pop((group, kind), [])]
    bindings = [one for kind in _POLICIES for one in objects.pop((group, f"{kind}Binding"), [])]
    for crd in _distinct(crds):
        for server in (both.ours, both.real):
            if server.call("POST", definitions.PATH, crd.obj).code == 201:
                definitions.wait_until_served(server, crd.obj)
    _DISCOVERED.clear()
    stored = _stored(both, objects, extent)
    for kind, document in policies:
        policy = {**document.obj, "apiVersion": f"{group}/v1"}
        _policy(both, kind, policy, bindings, objects, stored, extent)
    for path in [path for path, _ in stored]:
        both.deleted(path)
    for crd in crds:
        both.deleted(f"{definitions.PATH}/{crd.obj['metadata']['name']}")


def _stored(
    both: Comparison, objects: dict[tuple[str, str], list[Document]], extent: Extent
) -> list[tuple[str, Json]]:
    """What is there before any policy is, with its path: the params, and what is updated."""
    found = []
    for documents_of_kind in objects.values():
        for document in documents_of_kind[: extent.samples]:
            obj = document.obj
            resource = _resources(both, obj["apiVersion"]).get(obj["kind"])
            name = (obj.get("metadata") or {}).get("name")
            if resource is None or obj["kind"] in _NOT_STORED or not isinstance(name, str):
                continue
            base = "/apis" if "/" in obj["apiVersion"] else "/api"
            space = f"/namespaces/{_namespace(both, obj)}" if resource["namespaced"] else ""
            collection = f"{base}/{obj['apiVersion']}{space}/{resource['name']}"
            replies = both.ask("POST", collection, obj)
            if [reply.code for reply in replies] == [201, 201]:
                found.append((f"{collection}/{quote(name, safe=':')}", obj))
    return found


def _policy(
    both: Comparison,
    kind: str,
    policy: Json,
    bindings: list[Document],
    objects: dict[tuple[str, str], list[Document]],
    stored: list[tuple[str, Json]],
    extent: Extent,
) -> None:
    version, name = policy["apiVersion"], policy["metadata"]["name"]
    path = f"/apis/{version}/{'validating' if kind[0] == 'V' else 'mutating'}admissionpolicies"
    replies = both.ask("POST", f"{path}?fieldManager=m", policy)
    if [reply.code for reply in replies] != [201, 201]:
        return
    mine = [one.obj for one in bindings if one.obj.get("spec", {}).get("policyName") == name]
    spec: Json = {"policyName": name}
    if kind[0] == "V":
        spec["validationActions"] = ["Deny", "Audit"]
    for one in mine:
        sent = {**one, "apiVersion": version}
        both.ask("POST", f"{path[:-8]}policybindings?dryRun=All&fieldValidation=Strict", sent)
        spec.update({k: v for k, v in one["spec"].items() if k in ("paramRef",)})
    bound = {
        "apiVersion": version,
        "kind": f"{kind}Binding",
        "metadata": {"name": "b"},
        "spec": spec,
    }
    both.ask("POST", f"{path[:-8]}policybindings", bound)
    for server in (both.ours, both.real):
        server.settle()
    chance = Random(f"{extent.seed}{name}")
    try:
        for document in [one for several in objects.values() for one in several]:
            collection = _collection(both, document.obj)
            if collection and _is_matched(policy, collection):
                _met(both, collection, document.obj, chance, extent)
        for where, obj in stored:
            if not _is_matched(policy, where.rpartition("/")[0]):
                continue
            life = Life(both, chance, None if codec_for(metadata.gvk(obj)) else {}, extent.twists)
            both.ask("PUT", f"{where}?dryRun=All", obj)
            life._changed("PUT", where, obj)
            both.ask("DELETE", f"{where}?dryRun=All")
    finally:
        for one in (f"{path[:-8]}policybindings/b", f"{path}/{name}"):
            both.deleted(one)


def _is_matched(policy: Json, collection: str) -> bool:
    """Whether a rule of a policy names a resource, in whatever group."""
    rules = (policy["spec"].get("matchConstraints") or {}).get("resourceRules") or ()
    named = {one for rule in rules for one in rule.get("resources") or ()}
    return bool(named & {collection.rpartition("/")[2], "*", "*/*"})


def _met(both: Comparison, collection: str, obj: Json, chance: Random, extent: Extent) -> None:
    changed = copy.deepcopy(obj)
    meta = changed["metadata"] = changed.get("metadata") or {}
    meta["name"] = f"{meta.get('name', 'x')}-new"
    both.ask("POST", f"{collection}?dryRun=All", changed)
    Life(both, chance, None, extent.twists)._changed("POST", collection, changed)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.documents", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--policies", action="store_true", help="objects meet policies")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--twists", type=int, default=4, metavar="N", help="of each object")
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="of each kind")
    parser.add_argument("--server", required=True, metavar="URL")
    parser.add_argument("--token", default="", help="of somebody who may do everything")
    parser.add_argument("--ca-file", default="", metavar="FILE")
    parser.add_argument("--disable-admission-plugins", default="ServiceAccount", metavar="NAMES")
    parser.add_argument("--audit-log", default="", metavar="FILE", help="that the server writes")
    parser.add_argument("--patience", type=float, default=2.0, metavar="S")
    options = parser.parse_args(arguments)
    real = OverHttps(options.server, options.token, options.ca_file, patience=options.patience)
    real.audit_log = options.audit_log
    release = release_of(real)
    ours = InProcess(release, without=options.disable_admission_plugins.split(","), bare=True)
    both = Comparison(ours, real)
    found = [one for folder in options.folders for one in documents(folder)]
    try:
        with answering_as(release):
            extent = Extent(options.seed, options.twists, options.samples, options.policies)
            played(both, found, extent)
    finally:
        ours.close()
    for name, count in both.classes.most_common():
        _write(f"{count:6} {name}")
    _write(
        f"{len(found)} documents, {both.requests.total()} requests: "
        f"{both.classes.total()} answers differ, in {len(both.classes)} classes"
    )
    return 1 if both.classes else 0


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
