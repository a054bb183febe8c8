"""A document of kind PolicyTest to a `PolicyTest`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
)
from celadon.cli.check.plugins import PluginChoice, plugin_choice
from celadon.cli.options import VERSIONS
from celadon.cli.own_files import faults, is_own, problem_at
from celadon.cli.policytest.files.case_fields import CaseFields, ShortBindings, names, versions
from celadon.cli.policytest.files.file_format import KIND, SCHEMA
from celadon.cli.policytest.files.given_objects import ObjectReader
from celadon.cli.policytest.run.case_results import DEFAULT_NOW, Case, PolicyTest
from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject
from celadon.kube.resources import UnusablePlugins

_REGISTERED = frozenset({POLICY_KIND, BINDING_KIND, MUTATING_POLICY_KIND, MUTATING_BINDING_KIND})


def is_policy_test(document: Document) -> bool:
    """Return whether it is one, of whatever version."""
    return is_own(document, KIND)


def read_test(document: Document) -> PolicyTest:
    """The test, with its problems if something is wrong."""
    name = _name(document)
    wrong = [problem_at(document, *one) for one in faults(document.value, SCHEMA)]
    if wrong:
        return PolicyTest(name, document.file, (), (), problems=tuple(wrong))
    return _Reading(document).test(name)


def _name(document: Document) -> str:
    given = document.value_at(("metadata", "name"))
    return given if isinstance(given, str) and given else os.path.basename(document.file)


class _Reading:
    """One document on its way."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._objects = ObjectReader(document)
        self._policies: list[Document] = []
        bindings = ShortBindings(document, self._objects, lambda: self._policies)
        self._cases = CaseFields(document, self._objects, bindings)

    def test(self, name: str) -> PolicyTest:
        document, objects = self._document, self._objects
        given = document.value
        if "policies" in given:
            self._policies = objects.manifests(("policies",))
        else:
            self._policies = objects.beside(_policies_beside(document.file))
            self._policies = _with_registered(self._policies)
        cluster = (*self._policies, *self._cases.around(()))
        cases = list(self._read_cases())
        plugins = self._read_plugins()
        problems = [*objects.problems, *self._unknown_versions()]
        return PolicyTest(
            name,
            document.file,
            cluster,
            tuple(cases),
            versions(given.get("kubernetesVersions", [])),
            given.get("now", DEFAULT_NOW),
            (document.file, *objects.files),
            tuple(dict.fromkeys(problems)),
            plugins=plugins,
        )

    def _read_plugins(self) -> PluginChoice:
        given = self._document.value.get("admissionPlugins", {})
        try:
            return plugin_choice(
                given.get("enable", ()), given.get("disable", ()), None, whole_cluster=False
            )
        except UnusablePlugins as error:
            problem = problem_at(self._document, ("admissionPlugins",), str(error))
            self._objects.problems.append(problem)
            return PluginChoice()

    def _read_cases(self) -> Iterator[Case]:
        under_test = names(self._document.value.get("policy", ()))
        seen: dict[str, int] = {}
        for index in range(len(self._document.value["cases"])):
            case = self._cases.case(index)
            if case is None:
                continue
            line = seen.setdefault(case.name, case.place.line)
            if line != case.place.line:
                text = f"a case `{case.name}` is there already, in line {line}"
                self._objects.problems.append(problem_at(self._document, ("cases", index), text))
            yield case if case.policies else replace(case, policies=under_test)

    def _unknown_versions(self) -> Iterator[Problem]:
        """Releases that we do not know."""
        given: JsonObject = self._document.value
        cases = [(("cases", i), one) for i, one in enumerate(given["cases"])]
        for at, holder in ((), given), (("defaults",), given.get("defaults", {})), *cases:
            for i, one in enumerate(versions(holder.get("kubernetesVersions", []))):
                if one not in VERSIONS:
                    text = f"unknown version `{one}`, expected {VERSIONS[0]} to {VERSIONS[-1]}"
                    yield problem_at(self._document, (*at, "kubernetesVersions", i), text)


def _policies_beside(file: str) -> list[str]:
    """The file of the same name, else all files in the folder that are no tests."""
    folder, name = os.path.split(file)
    stem = name.lower().rpartition("policytest")[0].rstrip("._-")
    found = [
        one
        for one in sorted(os.listdir(folder or os.curdir))
        if one.lower().endswith(sources.EXTENSIONS)
        and not sources.is_test_file(one)
        and one != name
    ]
    same = [one for one in found if os.path.splitext(one)[0].lower() == stem]
    return [os.path.join(folder, one) for one in same or found]


def _with_registered(documents: list[Document]) -> list[Document]:
    """Return those of files that have a policy, or something about one, in them; manifests of other
    things may stand beside them."""
    files = {one.file for one in documents if one.value["kind"] in _REGISTERED}
    return [one for one in documents if one.file in files]
