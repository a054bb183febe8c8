"""`celadon test init`: a first test for a policy."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
)
from celadon.cli import output
from celadon.cli.celadon_documents import API_VERSION
from celadon.cli.check.manifests import described, policy_sets
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import add_files, add_version, did_you_mean
from celadon.cli.policytest.case_results import plain_document
from celadon.cli.policytest.case_search import SearchResult, TrialRequest, search
from celadon.cli.policytest.file_format import KIND
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    read_documents,
    read_text,
    shape_problem,
)
from celadon.cli.report.report_model import plural
from celadon.kube import GroupVersionKind, Json, JsonObject, metadata
from celadon.kube.registry import patch_between
from celadon.kube.resources import guess_resource
from celadon.kube.schemas import schema_for
from celadon.records import dataclass

# --- The first file ----------------------------------------------------------

# The policy that a first test is for, from its file.

MADE: Final = ""
"""Stands for the file of a definition that was made."""


@dataclass(frozen=True, slots=True)
class FirstPolicy:
    """Holds the first policy of a file. `documents` are those of the file, and a binding if the
    policy has none (`bound`). `definitions` are of the custom kinds that it is about, from the
    files beside it; one that takes anything is made for params that have none. `is_broken`: no API
    server would take it."""

    documents: Sequence[Document] = ()
    definitions: Sequence[Document] = ()
    name: str = ""
    bound: bool = True
    problems: Sequence[Problem] = ()
    is_broken: bool = False


def first_policy(
    file: str, expected: str | None, version: str, further: Sequence[str] = ()
) -> FirstPolicy:
    """Return the only policy of a file, validating or mutating, or that of a name; `further` are
    files with definitions besides those beside it."""
    text = read_text(file)
    documents_read = [text] if isinstance(text, Problem) else list(DocumentReader().read(text))
    problems = [item for item in documents_read if isinstance(item, Problem)]
    if problems:
        return FirstPolicy(problems=problems)
    documents = [item for item in documents_read if not isinstance(item, Problem)]
    sets = policy_sets(described(documents), version, unserved=True)
    errors = [error for part in sets.all for error in part.errors]
    wrong = [Problem(error.place.file, error.place.line, error.message) for error in errors]
    if wrong:
        return FirstPolicy(problems=wrong, is_broken=True)
    names = [name for part in sets.all for name in part.policies]
    if expected is not None and expected not in names:
        message = f"no policy `{expected}`{did_you_mean(expected, names)}"
        return FirstPolicy(problems=[Problem(file, 0, message)])
    if expected is None and len(names) != 1:
        message = f"several policies: {', '.join(names)}" if names else "no policy"
        return FirstPolicy(problems=[Problem(file, 0, message, "say which: `--policy`")])
    name = expected or names[0]
    part = next(policy_set for policy_set in sets.all if name in policy_set.policies)
    bindings = [
        binding.value.spec
        for binding in part.bindings.values()
        if binding.value.spec.policy_name == name
    ]
    document = part.policies[name].document
    if not bindings:
        documents.append(plain_document(short_binding(document, name), name))
    definitions = [*_definitions([os.path.dirname(file) or ".", *further], document)]
    in_namespace = any(spec.param_ref and spec.param_ref.namespace for spec in bindings)
    definitions += _open_definition(document, definitions, in_namespace=in_namespace)
    return FirstPolicy(documents, tuple(definitions), name, bool(bindings))


def short_binding(policy: Document, name: str) -> dict[str, Json]:
    """Return the binding that a policy gets that has none."""
    mutates = policy.value["kind"] == MUTATING_POLICY_KIND
    spec: dict[str, Json] = {"policyName": name}
    if policy.value_at(("spec", "paramKind")) is not None:
        spec["paramRef"] = {"name": "params", "parameterNotFoundAction": "Deny"}
    if not mutates:
        spec["validationActions"] = ["Deny"]
    return {
        "apiVersion": policy.value["apiVersion"],
        "kind": MUTATING_BINDING_KIND if mutates else BINDING_KIND,
        "metadata": {"name": name},
        "spec": spec,
    }


def _open_definition(
    policy: Document, documents: Sequence[Document], *, in_namespace: bool
) -> Iterator[Document]:
    """Yield a definition of a kind of params that nobody defines: one that takes anything, so that
    there can be params at all."""
    kind = policy.value_at(("spec", "paramKind"))
    if not isinstance(kind, Mapping):
        return
    group, _, version = str(kind["apiVersion"]).rpartition("/")
    gvk = GroupVersionKind(group, version, str(kind["kind"]))
    if schema_for(gvk) is not None or any(
        document.value_at(("spec", "names", "kind")) == kind["kind"] for document in documents
    ):
        return
    plural = guess_resource(gvk).resource
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True}
    value = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced" if in_namespace else "Cluster",
            "names": {"kind": kind["kind"], "plural": plural},
            "versions": [{**served, "schema": {"openAPIV3Schema": anything}}],
        },
    }
    yield plain_document(value, MADE)


def _definitions(paths: Sequence[str], policy: Document) -> Iterator[Document]:
    """Yield the definitions of the custom kinds that a policy names, each once."""
    groups = set(_groups(policy))
    for read_document in read_documents(paths):
        if isinstance(read_document, Problem) or not read_document.is_definition:
            continue
        if (
            shape_problem(read_document) is None
            and read_document.value_at(("spec", "group")) in groups
        ):
            yield read_document


def _groups(policy: Document) -> Iterator[str]:
    rules = policy.value_at(("spec", "matchConstraints", "resourceRules"))
    for rule in rules if isinstance(rules, list) else ():
        yield from rule.get("apiGroups") or ()
    kind = policy.value_at(("spec", "paramKind", "apiVersion"))
    if isinstance(kind, str):
        yield kind.rpartition("/")[0]


# --- First file --------------------------------------------------------------
#
# What a search has found, as a test file.


def first_file(search_result: SearchResult, policy: FirstPolicy, folder: str) -> str:
    """Return the text of the file, which stands in a folder."""
    return "".join(f"{line}\n" for line in _lines(search_result, policy, folder))


def _lines(search_result: SearchResult, policy: FirstPolicy, folder: str) -> Iterator[str]:
    yield f"apiVersion: {API_VERSION}"
    yield f"kind: {KIND}"
    yield f"policy: {json.dumps(policy.name)}"
    if not policy.bound:
        spec = policy.documents[-1].value["spec"]
        yield f"bindings: [{json.dumps(spec)}]"
    if policy.definitions:
        read = [definition for definition in policy.definitions if definition.file != MADE]
        files = dict.fromkeys(os.path.relpath(document.file, folder or ".") for document in read)
        definitions = [
            dict(definition.value) for definition in policy.definitions if definition.file == MADE
        ]
        yield f"crds: {json.dumps([*files, *definitions])}"
    base = search_result.admitted or next(
        (against.trial_request for against in search_result.against.values()), None
    )
    if base is not None:
        yield "objects:"
        yield f"  base: {json.dumps(base.object)}"
        if base.old is not None:
            yield f"  old: {json.dumps(base.old)}"
        yield f"defaults: {json.dumps(_defaults(base))}"
    yield "cases:"
    if base is not None:
        yield from _cases(search_result, base)
    yield from _unsolved(search_result)


def _cases(search_result: SearchResult, base: TrialRequest) -> Iterator[str]:
    mutates = search_result.subject.mutates
    if search_result.admitted is not None:
        yield f"- name: {'left as it is' if mutates else 'admitted'}"
        yield "  expect: {verdict: admit, patch: []}" if mutates else "  expect: admit"
    written = {base.key}
    for index, against in sorted(search_result.against.items()):
        subject = f"changed by mutation {index}" if mutates else f"refused by validation {index}"
        yield f"- name: {json.dumps(subject)}"
        yield from _differences(against.trial_request, base)
        expectation = {"deny": against.message, "validation": index}
        if mutates:
            expectation = {"verdict": "admit", "patch": list(against.patch)}
        yield f"  expect: {json.dumps(expectation)}"
        passing = search_result.passing.get(index)
        if passing is not None and passing.key not in written:
            written.add(passing.key)
            yield f"- name: {json.dumps(f'passes validation {index}')}"
            yield from _differences(passing, base)
            yield "  expect: admit"


def _unsolved(search_result: SearchResult) -> Iterator[str]:
    mutates = search_result.subject.mutates
    if search_result.admitted is None:
        subject = "leaves as it is" if mutates else "admits"
        yield f"# No request was found, among {search_result.trials}, that the policy {subject}."
    for index in search_result.unsolved:
        text = " ".join(search_result.subject.rules[index].text.split())
        subject = f"mutation {index} changes" if mutates else f"validation {index} refuses"
        yield f"# No request was found, among {search_result.trials}, that {subject}:"
        yield f"#   {text}"


def _defaults(base: TrialRequest) -> JsonObject:
    value: dict[str, Json] = {"object": "base"}
    if base.old is not None:
        value |= {"operation": "UPDATE", "oldObject": "old"}
    if base.user:
        value["user"] = base.user
    if base.namespace:
        value["namespace"] = {"labels": dict(base.namespace)}
    if base.params is not None:
        value["params"] = [base.params]
    return value


def _differences(trial: TrialRequest, base: TrialRequest) -> Iterator[str]:
    """Yield what a case has that the defaults do not."""
    if trial.object["kind"] == base.object["kind"]:
        patch = patch_between(base.object, trial.object)
        if patch:
            yield f"  patch: {json.dumps(patch)}"
    else:
        yield f"  object: {json.dumps(trial.object)}"
    if trial.old is None and base.old is not None:
        yield "  operation: CREATE"
    elif trial.old is not None and trial.old != base.old:
        yield "  operation: UPDATE"
        yield f"  oldObject: {json.dumps(trial.old)}"
    if trial.namespace != base.namespace:
        yield f"  namespace: {json.dumps({'labels': dict(trial.namespace)})}"
    if trial.user != base.user:
        yield f"  user: {json.dumps(trial.user or 'admin')}"
    if trial.params is not None and trial.params != base.params:
        yield f"  params: {json.dumps([trial.params])}"


# --- The command -------------------------------------------------------------

DESCRIPTION: Final = """\
Write a first test for a policy, beside it: for each validation a request that it refuses and one
that it lets pass; for each mutation one that it changes, and one that is left as it is. They are
found by search over objects of the kinds that the policy matches (custom kinds by the definitions
beside it, and those of `-f`); what was not found is said in the file.
"""

EPILOG: Final = """\
examples:
  celadon test init policies/limit.yaml
  celadon test init policies/all.yaml --policy limit --stdout
  celadon test init policies/shops.yaml -f config/crd/

exit codes:
  0  the test was written
  1  it was written, but not all that was looked for was found
  2  wrong usage, a file that cannot be read, a policy about kinds that are not known, or a test
     that is there already
  3  a policy that no API server would take
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon test init --help` shows."""
    parser.add_argument("file", metavar="POLICY", help="a file with the policy")
    add_files(parser, "CustomResourceDefinitions of the kinds that it is about")
    parser.add_argument("--policy", metavar="NAME", help="which one, if the file has several")
    parser.add_argument("--stdout", action="store_true", help="print it instead")
    parser.add_argument("--force", action="store_true", help="replace a test that is there")
    add_version(parser)


def run(options: argparse.Namespace) -> Exit:
    """Search and write."""
    path = f"{os.path.splitext(options.file)[0]}.policytest.yaml"
    if os.path.exists(path) and not (options.force or options.stdout):
        raise WrongUseError(f"`{path}` is there already: see `--force`")
    version = options.kubernetes_version
    policy = first_policy(options.file, options.policy, version, options.files)
    for problem in policy.problems:
        output.complain(f"error: {problem.text()}")
    if policy.problems:
        return Exit.POLICY if policy.is_broken else Exit.USAGE
    search_result = search(policy.documents, policy.name, version, policy.definitions)
    if not search_result.subject.resources:
        output.complain(f"error: {options.file}: {_unknown_kinds(policy)}")
        return Exit.USAGE
    text = first_file(search_result, policy, os.path.dirname(options.file))
    count, trials = text.count("\n- name: "), f"after {search_result.trials} trials"
    if options.stdout:
        output.write(text)
    elif count == 0:  # a test needs a case
        output.complain(f"nothing is written: no request was found {trials}")
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        output.complain(f"written: {path}, {plural(count, 'case')} {trials}")
    mutates = search_result.subject.mutates
    for index in search_result.unsolved:
        subject = f"mutation {index} changes" if mutates else f"validation {index} refuses"
        output.complain(f"not found: a request that {subject}")
    if search_result.admitted is None:
        output.complain(
            f"not found: a request that is {'left as it is' if mutates else 'admitted'}"
        )
    return Exit.OK if search_result.is_complete else Exit.DENIED


def _unknown_kinds(policy: FirstPolicy) -> str:
    """Return what is said of a policy for whose kinds no requests can be made."""
    document = next(
        document
        for document in policy.documents
        if document.value["kind"] in (POLICY_KIND, MUTATING_POLICY_KIND)
        and metadata.name(document.value) == policy.name
    )
    rules = document.value_at(("spec", "matchConstraints", "resourceRules"))
    names = {
        f"{resource}.{group}" if group else resource
        for rule in (rules if isinstance(rules, list) else ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    if all("/" in name for name in names):
        return f"no requests to subresources are made ({', '.join(sorted(names))})"
    return (
        f"no kind is known for {', '.join(sorted(names))} "
        "(give the CustomResourceDefinition with `-f`)"
    )
