"""`kyverno-test.yaml` to a PolicyTest: results for admission policies of Kubernetes itself.

A result names a policy and resources, each of which makes a case: `pass` is admit, `fail` deny,
`skip` no match. Results for policies of Kyverno's own kinds are left out, one case for each
resource that they name, so that they are counted; files that have nothing else are not read
further. Format: kyverno.io/docs/kyverno-cli/usage/test, `cli.kyverno.io/v1alpha1`; Kyverno takes
`kyverno.io/v1` as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.cli.policytest.case_results import CaseVerdict
from celadon.cli.policytest.importers.rewriting import Rewriting, Rewritten, after_mutation
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import Shape, misfit

_GROUPS: Final = ("cli.kyverno.io/", "kyverno.io/")
_FOR_OWN_POLICIES: Final = (
    "apiCallResponses",
    "context",
    "envoyPayloads",
    "exceptions",
    "globalContextEntries",
    "httpPayloads",
    "jsonPayloads",
    "targetResources",
)
"""What only policies of Kyverno's own kinds ever see."""
_FIELDS: Final = frozenset(
    {
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "policies",
        "resources",
        "paramResources",
        "clusterResources",
        "userinfo",
        "variables",
        "values",
        "results",
        *_FOR_OWN_POLICIES,
    }
)
_RESULT_FIELDS: Final = frozenset(
    {
        "policy",
        "rule",
        "resource",
        "resources",
        "resourceSpecs",
        "namespace",
        "kind",
        "result",
        "status",
        "operation",
        "patchedResource",
        "patchedResources",
        "isValidatingAdmissionPolicy",
        "isMutatingAdmissionPolicy",
    }
)
_SPEC_FIELDS: Final = frozenset({"group", "version", "kind", "namespace", "name", "subresource"})
_VERDICTS: Final = {
    "pass": CaseVerdict.ADMIT,
    "fail": CaseVerdict.DENY,
    "skip": CaseVerdict.NO_MATCH,
    "error": CaseVerdict.ERROR,
    "warn": CaseVerdict.WARN,
}
SHAPE: Final[Shape] = {"results": [{"resources": []}]}
_USER_FILE: Final[Shape] = {"userInfo": {}}
_KUBERNETES: Final = ("isValidatingAdmissionPolicy", "isMutatingAdmissionPolicy")
_OTHER_KINDS: Final = {
    "isvalidatingpolicy": "ValidatingPolicy",
    "ismutatingpolicy": "MutatingPolicy",
    "isgeneratingpolicy": "GeneratingPolicy",
    "isdeletingpolicy": "DeletingPolicy",
    "isimagevalidatingpolicy": "ImageValidatingPolicy",
}
_FIRST_KIND: Final = "ClusterPolicy"
_ALL_PARAMS: Final = {"selector": {}, "parameterNotFoundAction": "Deny"}


def is_kyverno_test(value: object) -> bool:
    """Return whether a document is one; those of early versions have no `apiVersion`."""
    if not isinstance(value, Mapping):
        return False
    version = value.get("apiVersion")
    if isinstance(version, str):
        return version.startswith(_GROUPS) and value.get("kind") == "Test"
    return "kind" not in value and {"policies", "resources", "results"} <= set(value)


def rewritten(chunk: Chunk, value: Any) -> Rewritten:  # noqa: ANN401 - any JSON
    """Return the test as a PolicyTest."""
    return _Kyverno(chunk, value).test()


class _Kyverno:
    def __init__(self, chunk: Chunk, value: JsonObject) -> None:
        self._test = value
        self._rewriting = Rewriting(chunk, value)
        self._resources: list[Document] = []

    def test(self) -> Rewritten:
        way, value = self._rewriting, self._test
        results = list(way.maps(("results",)))
        unsaid = way.others((), _FIELDS)
        # A test of Kyverno's own policies names files that mean nothing here; they are not even
        # read.
        if not unsaid and any(_is_of_kubernetes(result) for _, result in results):
            self._read()
        for path, result in results:
            reason = unsaid or way.others(path, _RESULT_FIELDS)
            if not _is_of_kubernetes(result):
                self._leave_out(path, result, _other_kind(result))
            elif reason:
                self._leave_out(path, result, reason)
            else:
                self._result(path, result)
        if not results and "results" not in value:
            way.leave_out("results", (), "the test has no `results`: it expects nothing")
        title = value.get("metadata")
        name = title.get("name") if isinstance(title, Mapping) else value.get("name")
        return way.done(name if isinstance(name, str) else "")

    def _read(self) -> None:
        """Policies, resources, and what stands around them."""
        way = self._rewriting
        policies = way.manifests(("policies",))
        self._resources = way.manifests(("resources",))
        way.fields["policies"] = way.files(("policies",))
        around = [*way.files(("paramResources",)), *way.files(("clusterResources",))]
        if around:
            way.fields["resources"] = around
        # Kyverno evaluates a policy that nothing binds; a PolicyTest needs a binding for that.
        bindings = [_binding(document) for document in way.unbound(policies)]
        if bindings:
            way.fields["bindings"] = bindings
        self._namespaces()
        self._user()

    def _leave_out(self, path: Path, result: JsonObject, reason: str) -> None:
        """Leave out a case for each resource that is named, as if it were run."""
        policy = result.get("policy", "policy")
        outcome = result.get("result", result.get("status", ""))
        names = result.get("resources") or [result.get("resource") or result.get("kind", "")]
        # The report counts what was left out in cases, as Kyverno does: one for each resource.
        for name in names if isinstance(names, list) else [result.get("kind", "")]:
            self._rewriting.leave_out(f"{policy}: {name}: {outcome}", path, reason)

    def _namespaces(self) -> None:
        """Labels of namespaces: of Namespaces among the resources, and of the values."""
        namespaces = {
            metadata.name(resource.value): metadata.labels(resource.value)
            for resource in self._resources
            if resource.group_kind == ("", "Namespace")
        }
        for values, path in self._values():
            for name in values:
                if name not in ("apiVersion", "kind", "metadata", "namespaceSelector"):
                    self._rewriting.say(
                        path, f"`{name}` of the values has no equal in a PolicyTest"
                    )
            selectors = values.get("namespaceSelector") or []
            for selector in selectors if isinstance(selectors, list) else ():
                if isinstance(selector, Mapping) and isinstance(selector.get("name"), str):
                    # The values go before Namespaces among the resources, as in Kyverno's command
                    # line.
                    namespaces[selector["name"]] = selector.get("labels") or {}
                else:
                    self._rewriting.say(path, "`namespaceSelector` of the values has no `name`")
        if namespaces:
            self._rewriting.fields["namespaces"] = namespaces

    def _values(self) -> Iterator[tuple[JsonObject, Path]]:
        inline = self._test.get("values")
        if isinstance(inline, Mapping):
            yield inline, ("values",)
        elif inline is not None:
            self._rewriting.say(("values",), "a map is expected here")
        if "variables" in self._test:
            document = self._file("variables")
            if document is not None:
                yield document.value, ("variables",)

    def _file(self, field: str) -> Document | None:
        """Return the one document of the file that a field names."""
        if not isinstance(self._test[field], str):
            self._rewriting.say((field,), "a file is expected here")
            return None
        return self._rewriting.objects.object((field,))

    def _user(self) -> None:
        document = self._file("userinfo") if "userinfo" in self._test else None
        if document is None:
            return
        for name in document.value:
            if name not in ("apiVersion", "kind", "metadata", "userInfo"):
                text = f"`{name}` of the user info has no equal in a PolicyTest"
                self._rewriting.say(("userinfo",), text)
        wrong = misfit(document.value, _USER_FILE)
        if wrong is not None:
            self._rewriting.say(("userinfo",), str(wrong))
            return
        user = document.value.get("userInfo") or {}
        names = {"username": "user", "groups": "groups", "uid": "uid", "extra": "extra"}
        user_fields = {ours: user[theirs] for theirs, ours in names.items() if user.get(theirs)}
        if user_fields:
            self._rewriting.fields["defaults"] = user_fields

    def _result(self, path: Path, result: JsonObject) -> None:
        way = self._rewriting
        outcome = result.get("result", result.get("status"))
        verdict = _VERDICTS.get(outcome) if isinstance(outcome, str) else None
        policy = result.get("policy")
        if verdict is None or not isinstance(policy, str):
            subject = "`policy`" if verdict else f"`result`, one of {', '.join(_VERDICTS)},"
            way.say(path, f"{subject} is needed")
            return
        operation = result.get("operation") or "CREATE"
        # Kyverno's file has no place for the object before an update.
        if operation not in ("CREATE", "DELETE"):
            self._leave_out(path, result, f"{operation} without an old object")
            return
        named = self._named(path, result)
        after = self._after(path, result)
        for document, subresource in named:
            name = f"{policy}: {document.value['kind']} {metadata.name(document.value)}: {outcome}"
            case: dict[str, object] = {
                "name": name,
                "object": way.reference(document, self._resources),
                # `namespace/name` is how Kyverno names its namespaced policies; those of Kubernetes
                # are in no namespace.
                "policy": policy.rpartition("/")[2],
            }
            if subresource:
                case["subresource"] = subresource
            if operation != "CREATE":
                case["operation"] = operation
            way.add({**case, "expect": self._expected(path, document, verdict, after)}, path)

    def _named(self, path: Path, result: JsonObject) -> list[tuple[Document, str]]:
        """Return the resources of a result, with the subresource that is meant; all of its kind if
        it names none. One that is not there is said."""
        kind = result.get("kind")
        of_kind = [
            resource for resource in self._resources if kind in (None, "", resource.value["kind"])
        ]
        names = result.get("resources") or []
        if "resource" in result:
            names = [*names, result["resource"]]
        pairs: list[tuple[Document, str]] = []
        for name in names:
            named_documents = _called(of_kind, str(name), str(result.get("namespace", "")))
            if not named_documents:
                self._rewriting.say(path, f"no {kind or 'resource'} `{name}` among the resources")
            pairs += [(document, "") for document in named_documents]
        for place, spec in self._rewriting.maps((*path, "resourceSpecs")):
            self._rewriting.refuse_others(place, _SPEC_FIELDS)
            named_documents = [resource for resource in self._resources if _fits(resource, spec)]
            if not named_documents:
                self._rewriting.say(place, "no such object among the resources")
            pairs += [(document, str(spec.get("subresource", ""))) for document in named_documents]
        if not names and "resourceSpecs" not in result:
            pairs = [(document, "") for document in of_kind]
            if not pairs:
                self._rewriting.say(path, f"no {kind or 'resource'} among the resources")
        return pairs

    def _after(self, path: Path, result: JsonObject) -> list[Document] | None:
        """Return what the resources are to become; None where nothing is said about that."""
        for name in ("patchedResources", "patchedResource"):
            value = result.get(name)
            if isinstance(value, str):
                return list(self._rewriting.objects.manifest(value, (*path, name)))
        return None

    def _expected(
        self, path: Path, document: Document, verdict: CaseVerdict, after: Sequence[Document] | None
    ) -> Any:  # noqa: ANN401 - as a PolicyTest has it
        if after is None or verdict is not CaseVerdict.ADMIT:
            return verdict.value
        mine = [other for other in after if _identity(other) == _identity(document)]
        if len(mine) != 1:
            kind, name = document.value["kind"], metadata.name(document.value)
            text = f"no {kind} `{name}` among the patched resources"
            self._rewriting.say(path, text)
            return verdict.value
        return {"verdict": verdict.value, "object": after_mutation(document.value, mine[0].value)}


def _is_of_kubernetes(result: JsonObject) -> bool:
    return any(result.get(name) for name in _KUBERNETES)


def _other_kind(result: JsonObject) -> str:
    """Return why a result for a policy of Kyverno's own is left out. Go reads names of fields in
    any case."""
    true_names = {str(name).lower() for name, value in result.items() if value is True}
    kind = next((kind for name, kind in _OTHER_KINDS.items() if name in true_names), _FIRST_KIND)
    return f"Kyverno's own {kind}: only policies of Kubernetes are evaluated"


def _binding(policy: Document) -> dict[str, object]:
    """Return what binds a policy to all there is, and to all params."""
    has_params = policy.value_at(("spec", "paramKind")) is not None
    spec = {"policyName": metadata.name(policy.value)}
    return spec | ({"paramRef": _ALL_PARAMS} if has_params else {})


def _identity(document: Document) -> tuple[str, str, str]:
    value = document.value
    return value["kind"], metadata.namespace(value), metadata.name(value)


def _called(documents: Sequence[Document], name: str, namespace: str) -> list[Document]:
    """Return the documents of a name, which may begin with a namespace."""
    place, _, last = name.rpartition("/")
    wanted_namespace = place or namespace
    return [
        document
        for document in documents
        if metadata.name(document.value) == last
        # Where the test names no namespace, any will do.
        and wanted_namespace in ("", metadata.namespace(document.value) or "default")
    ]


def _fits(document: Document, spec: JsonObject) -> bool:
    group, kind = document.group_kind
    version = document.value["apiVersion"].rpartition("/")[2]
    fields = {
        "group": group,
        "version": version,
        "kind": kind,
        "namespace": metadata.namespace(document.value),
        "name": metadata.name(document.value),
    }
    return all(spec.get(name) in (None, "", value) for name, value in fields.items())
