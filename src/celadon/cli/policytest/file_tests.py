"""A document of kind PolicyTest to a `PolicyTest`: its objects, its cases, their defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.admission import ADMIN, Operation, registration
from celadon.cel.extend import re2
from celadon.cli.celadon_documents import faults, is_own, problem_at
from celadon.cli.check.check_report import Place
from celadon.cli.check.document_requests import user_info
from celadon.cli.check.plugins import PluginChoice, plugin_choice
from celadon.cli.options import VERSIONS, did_you_mean
from celadon.cli.policytest import case_results
from celadon.cli.policytest.file_format import KIND, SCHEMA, SNAPSHOT
from celadon.cli.reading.documents import (
    EXTENSIONS,
    Document,
    DocumentReader,
    Problem,
    expand_paths,
    is_test_file,
    read_text,
    shape_problem,
)
from celadon.cli.reading.json_text import Path
from celadon.kube import GroupKind, JsonObject, Ruling, User, metadata
from celadon.kube.registry import JsonPatchError, apply_json_patch, apply_merge_patch
from celadon.kube.resources import UnusablePlugins
from celadon.kube.workload_controllers import created_kinds
from celadon.records import dataclass

# --- Objects -----------------------------------------------------------------
#
# Objects as test files give them: inline, in files, or as patches on others.
#
# `ObjectReader` belongs to one test file: paths are relative to it, names are those of its
# `objects`. What cannot be read goes to its `problems`, each once. Files are read once.

Patch = JsonObject | Sequence[JsonObject]
"""A merge patch or a JSON patch."""


class ObjectReader:
    """Reads what one test file names. `files` are the files that were read, as they were named."""

    def __init__(self, test: Document) -> None:
        self._test = test
        self._folder = os.path.dirname(test.file)
        self._reader = DocumentReader()
        self._read: dict[str, list[Document]] = {}
        self._bases: dict[str, Document | None] = {}
        self._expanded: dict[str, tuple[Document, ...]] = {}
        self.problems: list[Problem] = []
        self.files: list[str] = []

    def manifests(self, path: Path) -> list[Document]:
        """Return the documents that a list at a path of the test stands for."""
        items = self._test.value_at(path) or []
        return [
            document
            for index, item in enumerate(items if isinstance(items, list) else ())
            for document in self.manifest(item, (*path, index))
        ]

    def manifest(self, text: object, path: Path) -> Sequence[Document]:
        """Return the documents that one item of such a list stands for."""
        if isinstance(text, str):
            if text not in self._expanded:
                self._expanded[text] = tuple(self._below(text, path))
            return self._expanded[text]
        inline = self.inline(path)
        return [] if inline is None else [inline]

    def beside(self, files: Sequence[str]) -> list[Document]:
        """Return the documents in files that nobody has named."""
        return [document for file in files for document in self._documents(file, ())]

    def _below(self, text: str, path: Path) -> Iterator[Document]:
        """Yield what is in a file, in the files of a folder or in those that a pattern matches."""
        for file in expand_paths([self._path(text)]):
            if isinstance(file, Problem):
                self._complain(path, file.message)
            else:
                yield from self._documents(file, path)

    def inline(self, path: Path) -> Document | None:
        """Return an object that stands in the test itself."""
        value: Any = self._test.value_at(path)
        return self._shaped(Document(self._test.chunk, (*self._test.path, *path), value))

    def _shaped(self, document: Document) -> Document | None:
        wrong = shape_problem(document)
        if wrong is None:
            return document
        self.problems.append(wrong)
        return None

    def object(self, path: Path) -> Document | None:
        """Return the object that a field of the test stands for; None for what is wrong."""
        value: Any = self._test.value_at(path)
        if isinstance(value, str):
            return self._named(value, path)
        if "apiVersion" in value:
            return self.inline(path)
        return self._derived(value, path)

    def patched(self, document: Document | None, path: Path) -> Document | None:
        """Return an object with the patch at a path of the test; as it is if there is none."""
        patch: Any = self._test.value_at(path)
        if document is None or patch is None:
            return document
        try:
            value = patched(document.value, patch)
        except JsonPatchError as error:
            self._complain(path, f"the patch does not apply: {error}")
            return None
        if not _is_object(value):
            self._complain(path, "the patch leaves no object with `apiVersion` and `kind`")
            return None
        return self._shaped(replace(document, value=value))

    def _named(self, name: str, path: Path) -> Document | None:
        """Return one of `objects`, or the object of a file."""
        objects = self._test.value.get("objects") or {}
        if name not in objects:
            return self._only(name, path, "", "")
        if name not in self._bases:
            self._bases[name] = None  # one that is based on itself is none
            self._bases[name] = self.object(("objects", name))
            if self._bases[name] is None:
                self._complain(("objects", name), f"`{name}` is no object")
        return self._bases[name]

    def _derived(self, value: JsonObject, path: Path) -> Document | None:
        if ("base" in value) == ("file" in value):
            self._complain(path, "either `base` or `file` is needed")
            return None
        if "base" in value:
            objects = self._test.value.get("objects") or {}
            if value["base"] not in objects:
                hint = did_you_mean(value["base"], objects)
                wrong = f"no object `{value['base']}` among `objects`{hint}"
                self._complain((*path, "base"), wrong)
                return None
            document = self._named(value["base"], path)
        else:
            kind, name = value.get("kind", ""), value.get("name", "")
            document = self._only(value["file"], (*path, "file"), kind, name)
        return self.patched(document, (*path, "patch"))

    def _only(self, file: str, path: Path, kind: str, name: str) -> Document | None:
        """Return the one object of a file, of those of a kind and a name."""
        if not os.path.isfile(self._path(file)):
            objects = self._test.value.get("objects") or {}
            hint = did_you_mean(file, objects)
            among = " among `objects`" if objects else ""
            self._complain(path, f"no file `{file}`, and no object of this name{among}{hint}")
            return None
        documents = self._documents(self._path(file), path)
        result = [
            document
            for document in documents
            if kind in ("", document.value["kind"]) and name in ("", metadata.name(document.value))
        ]
        if len(result) == 1:
            return result[0]
        if not documents:
            return None  # what is wrong with the file has been said
        count = "several objects" if result else "no such object"
        names = ", ".join(
            f"{document.value['kind']} {metadata.name(document.value)}" for document in documents
        )
        self._complain(path, f"`{file}` has {count}: {names}", "say which: kind, name")
        return None

    def _documents(self, file: str, path: Path) -> list[Document]:
        documents = self._read.get(file)
        if documents is None:
            documents = self._read[file] = []
            self.files.append(file)
            if os.path.exists(file) and not os.path.isfile(file):
                self._complain(path, f"`{file}`: a pipe or a device, not a file")
                return documents
            text = read_text(file)
            if isinstance(text, Problem):
                self._complain(path, f"`{file}`: {text.message}")
                return documents
            for item in self._reader.read(text):
                if isinstance(item, Problem):
                    self.problems.append(item)
                elif self._shaped(item) is not None:
                    documents.append(item)
        return documents

    def _path(self, text: str) -> str:
        return os.path.join(self._folder, text)

    def _complain(self, path: Path, text: str, help: str = "") -> None:
        self.problems.append(problem_at(self._test, path, text, help))


def patched(value: JsonObject, patch: Patch) -> Any:  # noqa: ANN401 - any JSON
    """Return an object with a merge patch, or a JSON patch if it is a list. Raises
    JsonPatchError."""
    if isinstance(patch, Mapping):
        return apply_merge_patch(value, patch)
    return apply_json_patch(value, patch)


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) and value[name] for name in ("apiVersion", "kind")
    )


# --- Cases -------------------------------------------------------------------
#
# A case as it stands in a file, with the defaults of its file, to a `Case`.
#
# A case and the defaults are read field by field: `CaseFields.path` is where a field stands, in
# the case or in the defaults.

# --- Short bindings ----------------------------------------------------------
#
# Bindings as tests give them: whole ones, files, or only what a binding's spec says.
#
# The short form has no name of its own: it replaces the binding of the policy that has the
# policy's name, or is the only one that the policy has.

_KINDS: Final = {
    registration.POLICY_KIND: registration.BINDING_KIND,
    registration.MUTATING_POLICY_KIND: registration.MUTATING_BINDING_KIND,
}


@dataclass(frozen=True, slots=True, eq=False)
class ShortBindings:
    """Reads the lists of bindings of one test. `known` are the documents that it is about."""

    test: Document
    objects: ObjectReader
    loaded: Callable[[], list[Document]]

    def documents(self, path: Path) -> list[Document]:
        """Return the bindings of a list at a path of the test."""
        items: Any = self.test.value_at(path)
        documents: list[Document] = []
        for index, item in enumerate(items):
            place = (*path, index)
            if isinstance(item, Mapping) and "kind" not in item:
                documents.append(self._made(item, place))
            else:
                documents += self.objects.manifest(item, place)
        return documents

    def _made(self, spec: JsonObject, path: Path) -> Document:
        policy = spec["policyName"]
        version, kind = "admissionregistration.k8s.io/v1", registration.BINDING_KIND
        bound = []
        for document in self.loaded():
            if document.value["kind"] in _KINDS and metadata.name(document.value) == policy:
                version, kind = document.value["apiVersion"], _KINDS[document.value["kind"]]
            elif document.value["kind"] in _KINDS.values():
                named = document.value_at(("spec", "policyName"))
                bound += [metadata.name(document.value)] if named == policy else []
        name = bound[0] if len(bound) == 1 else policy
        value = {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": name},
            "spec": {"validationActions": ["Deny"], **spec}
            if kind == registration.BINDING_KIND
            else dict(spec),
        }
        return Document(self.test.chunk, (*self.test.path, *path), value)


# --- Expectation fields ------------------------------------------------------
#
# What stands under `expect`, to an `Expectation`.

_SHORT = tuple(
    verdict
    for verdict in case_results.CaseVerdict
    if verdict.value in {"deny", "warn", "audit", "error"}
)
"""Verdicts that may be given with their message: `deny: no more than 5 replicas`."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpectationReader:
    """Reads expectations of one test, of which the shape is right; what is wrong beyond that goes
    to `problems`."""

    test: Document
    problems: list[Problem]

    def read(self, path: Path) -> case_results.Expectation:
        """Return what is expected, at a path of the test."""
        expectation: Any = self.test.value_at(path)
        place = self._place(path)
        if expectation == SNAPSHOT:
            return case_results.Expectation(case_results.CaseVerdict.ADMIT, place, snapshot=True)
        if isinstance(expectation, str):
            return case_results.Expectation(case_results.CaseVerdict(expectation), place)
        verdict, position = self._verdict(expectation, path)
        patch = expectation.get("patch")
        if isinstance(patch, Mapping):
            self._complain((*path, "patch"), "a JSON patch is expected here, a list of operations")
            patch = None
        warnings = expectation.get("warnings")
        return case_results.Expectation(
            verdict,
            place,
            message=self._text(position) if position else None,
            reason=expectation.get("reason", ""),
            code=expectation.get("code", 0),
            policy=expectation.get("policy", ""),
            validation=expectation.get("validation"),
            violations=expectation.get("violations"),
            warnings=None
            if warnings is None
            else tuple(self._text((*path, "warnings", i)) for i in range(len(warnings))),
            audit_annotations={
                key: self._text((*path, "auditAnnotations", key))
                for key in expectation.get("auditAnnotations", {})
            },
            because=expectation.get("because", ""),
            object=expectation.get("object"),
            patch=None if patch is None else tuple(patch),
        )

    def _verdict(self, value: JsonObject, path: Path) -> tuple[case_results.CaseVerdict, Path]:
        """Return the verdict that is expected, and where the message stands, if there is one."""
        short = [verdict for verdict in _SHORT if verdict.value in value]
        verdict = case_results.CaseVerdict(value["verdict"]) if "verdict" in value else None
        if len(short) + (verdict is not None) > 1:
            self._complain(path, "more than one verdict")
        if short:
            if "message" in value:
                self._complain(
                    (*path, "message"), f"the message stands at `{short[0].value}` already"
                )
            return short[0], (*path, short[0].value)
        place = (*path, "message") if "message" in value else ()
        if verdict is None:
            mutates = "object" in value or "patch" in value
            if not mutates:
                self._complain(path, "no `verdict`: admit, deny, warn, audit, error or noMatch")
            verdict = case_results.CaseVerdict.ADMIT
        return verdict, place

    def _text(self, path: Path) -> case_results.TextMatch:
        value: Any = self.test.value_at(path)
        place = self._place(path)
        if isinstance(value, str):
            return case_results.TextMatch(value, case_results.How.IS, place)
        if "contains" in value:
            return case_results.TextMatch(value["contains"], case_results.How.CONTAINS, place)
        pattern = value["matches"]
        try:
            re2.compile(pattern)
        except re2.RegexError as error:
            self._complain((*path, "matches"), f"not a regular expression of RE2: {error}")
        return case_results.TextMatch(pattern, case_results.How.MATCHES, place)

    def _place(self, path: Path) -> Place:
        return Place(self.test.file, self.test.line(path))

    def _complain(self, path: Path, text: str) -> None:
        self.problems.append(problem_at(self.test, path, text))


_RULINGS: Final = {
    "allow": Ruling.ALLOW,
    "deny": Ruling.DENY,
    "noOpinion": Ruling.NO_OPINION,
}
_DEFAULTS: Final = "defaults"


class CaseFields:
    """Reads the cases of one test file, of which the shape is right."""

    def __init__(self, test: Document, objects: ObjectReader, bindings: ShortBindings) -> None:
        self._test = test
        self._objects = objects
        self._bindings = bindings
        self._around: dict[Path, tuple[Document, ...]] = {}
        self._answers: dict[Path, tuple[case_results.AuthorizerAnswer, ...]] = {}

    def case(self, index: int) -> case_results.Case | None:
        """Return the case of an index; None, and a problem, if something is wrong with it."""
        place: Path = ("cases", index)
        before = len(self._objects.problems)
        document, old = self._request_objects(place)
        expect = ExpectationReader(self._test, self._objects.problems).read((*place, "expect"))
        namespace, extra = self._namespace(place, document or old)
        cluster = (*self.around(place), *extra)
        if document is not None:
            self._check_generated(place, document)
        if document is None or len(self._objects.problems) > before:
            return None
        return case_results.Case(
            self._get(place, "name", ""),
            self._place(place),
            expect,
            document,
            old,
            Operation(self._get(place, "operation", "CREATE")),
            self._get(place, "subresource", ""),
            namespace,
            self._user(place),
            dry_run=self._is_set(place, "dryRun"),
            cluster=cluster,
            answers=self._authorizer(place),
            policies=names(self._get(place, "policy", ())),
            versions=versions(self._get(place, "kubernetesVersions", ())),
            skip=self._get(place, "skip", ""),
            generated=self._get(place, "generated", ""),
        )

    def _request_objects(self, place: Path) -> tuple[Document | None, Document | None]:
        """Return what is asked about, and what it replaces."""
        operation = self._get(place, "operation", "CREATE")
        base = self._object(place, "object")
        document = self._patched(place, base, "patch")
        old = self._patched(place, self._object(place, "oldObject"), "oldPatch")
        if operation == "DELETE":
            document, old = document or old, None
        elif operation == "UPDATE" and old is None:
            old = self._patched(place, base, "oldPatch")
            if old is document and not self._path(place, "oldPatch"):
                text = "an UPDATE needs an `oldObject`, or a `patch` on the `object`"
                self._complain(place, text)
        if document is None and not self._path(place, "object"):
            self._complain(place, "no `object`, neither here nor in `defaults`")
        return document, old

    def _check_generated(self, place: Path, document: Document) -> None:
        """Check that controllers create what is wanted of objects of this kind."""
        generated = self._get(place, "generated", "")
        kind = GroupKind(*document.group_kind)
        if generated and generated not in created_kinds(kind):
            text = f"no controller creates a {generated} of a {kind.kind}"
            self._complain(self._path(place, "generated"), text)

    def _object(self, place: Path, name: str) -> Document | None:
        path = self._path(place, name)
        return self._objects.object(path) if path else None

    def _patched(self, place: Path, document: Document | None, name: str) -> Document | None:
        path = self._path(place, name)
        return self._objects.patched(document, path) if path else document

    def around(self, place: Path) -> tuple[Document, ...]:
        """Return what a case, or the test itself (an empty path), has in its cluster; the same
        documents for all that say nothing of their own."""
        if not place:
            return self._cluster(())
        return (*self._shared(), *self._cluster(place))

    def _shared(self) -> tuple[Document, ...]:
        if (_DEFAULTS,) not in self._around:
            self._around[(_DEFAULTS,)] = self._cluster((_DEFAULTS,))
        return self._around[(_DEFAULTS,)]

    def _cluster(self, place: Path) -> tuple[Document, ...]:
        """Return the cluster of this place alone."""
        fields: Any = self._test.value_at(place) or {}
        documents: list[Document] = []
        for name in ("crds", "resources", "params"):
            if name in fields:
                documents += self._objects.manifests((*place, name))
        for name, labels in fields.get("namespaces", {}).items():
            documents.append(self._made_namespace((*place, "namespaces", name), name, labels))
        if "bindings" in fields:
            documents += self._bindings.documents((*place, "bindings"))
        return tuple(documents)

    def _namespace(self, place: Path, document: Document | None) -> tuple[str, list[Document]]:
        """Return the namespace of objects that do not say theirs, and the Namespace if something is
        said of it."""
        namespace = self._get(place, "namespace", "default")
        if isinstance(namespace, str):
            return namespace, []
        object_namespace = "" if document is None else metadata.namespace(document.value)
        name = namespace.get("name") or object_namespace or "default"
        labels, annotations = namespace.get("labels", {}), namespace.get("annotations", {})
        path = self._path(place, "namespace")
        return name, [self._made_namespace(path, name, labels, annotations)]

    def _made_namespace(
        self,
        path: Path,
        name: str,
        labels: Mapping[str, str],
        annotations: Mapping[str, str] | None = None,
    ) -> Document:
        namespace_metadata = {"name": name, "labels": dict(labels)}
        if annotations:
            namespace_metadata["annotations"] = dict(annotations)
        value = {"apiVersion": "v1", "kind": "Namespace", "metadata": namespace_metadata}
        return Document(self._test.chunk, (*self._test.path, *path), value)

    def _user(self, place: Path) -> User:
        groups = self._get(place, "groups", ())
        name = self._get(place, "user", "")
        extra = self._get(place, "extra", {})
        uid = self._get(place, "uid", "")
        user = user_info(name, groups) if name else ADMIN
        if groups and not name:
            user = replace(ADMIN, groups=tuple(groups))
        return replace(user, uid=uid, extra=extra) if uid or extra else user

    def _authorizer(self, place: Path) -> tuple[case_results.AuthorizerAnswer, ...]:
        path = self._path(place, "authorizer")
        if not path:
            return ()
        if path not in self._answers:
            answers: Any = self._test.value_at(path)
            self._answers[path] = tuple(map(_answer, answers))
        return self._answers[path]

    def _path(self, place: Path, name: str) -> Path:
        """Return where a field of a case stands; empty if it is not given."""
        for holder in (place, (_DEFAULTS,)):
            fields = self._test.value_at(holder)
            if isinstance(fields, dict) and name in fields:
                return (*holder, name)
        return ()

    def _is_set(self, place: Path, name: str) -> bool:
        return self._get(place, name, default=False) is True

    def _get(self, place: Path, name: str, default: object) -> Any:  # noqa: ANN401 - as the schema has it
        path = self._path(place, name)
        return self._test.value_at(path) if path else default

    def _place(self, place: Path) -> Place:
        return Place(self._test.file, self._test.line(place))

    def _complain(self, place: Path, text: str) -> None:
        self._objects.problems.append(problem_at(self._test, place, text))


def _answer(value: JsonObject) -> case_results.AuthorizerAnswer:
    question = dict(value)
    ruling = _RULINGS[question.pop("decision")]
    reason, error = question.pop("reason", ""), question.pop("error", None)
    return case_results.AuthorizerAnswer(ruling, question, reason, error)


def names(text: str | list[str]) -> tuple[str, ...]:
    """Return the names that a text or a list of texts has."""
    return (text,) if isinstance(text, str) else tuple(text)


def versions(texts: list[str]) -> tuple[str, ...]:
    """Releases without a leading `v`."""
    return tuple(text.removeprefix("v") for text in texts)


# --- Tests -------------------------------------------------------------------

_REGISTERED = frozenset(
    {
        registration.POLICY_KIND,
        registration.BINDING_KIND,
        registration.MUTATING_POLICY_KIND,
        registration.MUTATING_BINDING_KIND,
    }
)


def is_policy_test(document: Document) -> bool:
    """Return whether it is one, of whatever version."""
    return is_own(document, KIND)


def read_test(document: Document) -> case_results.PolicyTest:
    """Return the test, with its problems if something is wrong."""
    name = _name(document)
    wrong = [problem_at(document, *fault) for fault in faults(document.value, SCHEMA)]
    if wrong:
        return case_results.PolicyTest(name, document.file, (), (), problems=tuple(wrong))
    return _Reading(document).test(name)


def _name(document: Document) -> str:
    name = document.value_at(("metadata", "name"))
    return name if isinstance(name, str) and name else os.path.basename(document.file)


class _Reading:
    """Reads one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._objects = ObjectReader(document)
        self._policies: list[Document] = []
        bindings = ShortBindings(document, self._objects, lambda: self._policies)
        self._cases = CaseFields(document, self._objects, bindings)

    def test(self, name: str) -> case_results.PolicyTest:
        document, objects = self._document, self._objects
        value = document.value
        if "policies" in value:
            self._policies = objects.manifests(("policies",))
        else:
            self._policies = objects.beside(_policies_beside(document.file))
            self._policies = _with_registered(self._policies)
        cluster = (*self._policies, *self._cases.around(()))
        cases = list(self._read_cases())
        plugins = self._read_plugins()
        problems = [*objects.problems, *self._unknown_versions()]
        return case_results.PolicyTest(
            name,
            document.file,
            cluster,
            tuple(cases),
            versions(value.get("kubernetesVersions", [])),
            value.get("now", case_results.DEFAULT_NOW),
            (document.file, *objects.files),
            tuple(dict.fromkeys(problems)),
            plugins=plugins,
        )

    def _read_plugins(self) -> PluginChoice:
        admission_plugins = self._document.value.get("admissionPlugins", {})
        try:
            return plugin_choice(
                admission_plugins.get("enable", ()),
                admission_plugins.get("disable", ()),
                None,
                whole_cluster=False,
            )
        except UnusablePlugins as error:
            problem = problem_at(self._document, ("admissionPlugins",), str(error))
            self._objects.problems.append(problem)
            return PluginChoice()

    def _read_cases(self) -> Iterator[case_results.Case]:
        under_test = names(self._document.value.get("policy", ()))
        lines: dict[str, int] = {}
        for index in range(len(self._document.value["cases"])):
            case = self._cases.case(index)
            if case is None:
                continue
            line = lines.setdefault(case.name, case.place.line)
            if line != case.place.line:
                text = f"a case `{case.name}` is there already, in line {line}"
                self._objects.problems.append(problem_at(self._document, ("cases", index), text))
            yield case if case.policies else replace(case, policies=under_test)

    def _unknown_versions(self) -> Iterator[Problem]:
        """Releases that we do not know."""
        value: JsonObject = self._document.value
        cases = [(("cases", i), case) for i, case in enumerate(value["cases"])]
        for place, holder in ((), value), (("defaults",), value.get("defaults", {})), *cases:
            for i, version in enumerate(versions(holder.get("kubernetesVersions", []))):
                if version not in VERSIONS:
                    text = f"unknown version `{version}`, expected {VERSIONS[0]} to {VERSIONS[-1]}"
                    yield problem_at(self._document, (*place, "kubernetesVersions", i), text)


def _policies_beside(file: str) -> list[str]:
    """Return the file of the same name, else all files in the folder that are no tests."""
    folder, name = os.path.split(file)
    stem = name.lower().rpartition("policytest")[0].rstrip("._-")
    files = [
        text
        for text in sorted(os.listdir(folder or os.curdir))
        if text.lower().endswith(EXTENSIONS) and not is_test_file(text) and text != name
    ]
    same_stem = [text for text in files if os.path.splitext(text)[0].lower() == stem]
    return [os.path.join(folder, text) for text in same_stem or files]


def _with_registered(documents: list[Document]) -> list[Document]:
    """Return the documents of files that have a policy, or something about one, in them; manifests
    of other things may stand beside them."""
    files = {document.file for document in documents if document.value["kind"] in _REGISTERED}
    return [document for document in documents if document.file in files]
