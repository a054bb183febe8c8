"""Translations as files that one would be glad to have written: one for each policy, laid out as
`celadon fmt` has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import yaml

from celadon.admission.registration import BINDING_KIND, MUTATING_BINDING_KIND
from celadon.cel.formatter import laid_out
from celadon.cli.fmt import expression_fields, text_layout
from celadon.cli.migration.migration_run import RuleOutcome
from celadon.cli.reading.documents import Text
from celadon.kube import JsonObject
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND

_LINE_WIDTH: Final = 100
_INDENT: Final = 6
"""Columns that the layout leaves to the YAML around an expression."""


def migrated_files(
    outcomes: Iterable[RuleOutcome], *, warns: bool = False
) -> Iterator[tuple[str, str]]:
    """The files to write: a name and a content for each policy that has a rule translated.
    With `warns`, bindings warn and audit, whatever the policies say."""
    for file, documents in _by_policy(outcomes):
        yield file, _laid_out(file, [_warning(one) if warns else one for one in documents])


DEFINITIONS: Final = "1-definitions"
POLICIES: Final = "2-policies"
WARN: Final = "3-warn"
ENFORCE: Final = "4-enforce"
"""Folders of a plan, in the order in which they are applied."""


def staged_files(outcomes: Iterable[RuleOutcome]) -> Iterator[tuple[str, str]]:
    """The files of a plan, in folders that are applied one after the other: definitions, policies
    with their parameters, bindings that warn and audit, and bindings that refuse (or change) as the
    policies say. What only reports in its engine has none of the last."""
    for file, documents in _by_policy(outcomes):
        stages: dict[str, list[JsonObject]] = {}
        for one in documents:
            for stage, staged in _stages(one):
                stages.setdefault(stage, []).append(staged)
        for stage, staged_documents in sorted(stages.items()):
            yield f"{stage}/{file}", _laid_out(file, staged_documents)


def _stages(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    kind = document["kind"]
    if kind == DEFINITION_KIND.kind:
        yield DEFINITIONS, document
    elif kind == MUTATING_BINDING_KIND:
        yield ENFORCE, document
    elif kind == BINDING_KIND:
        yield WARN, _warning(document)
        if "Deny" in document["spec"]["validationActions"]:
            yield ENFORCE, document
    else:
        yield POLICIES, document


def _by_policy(outcomes: Iterable[RuleOutcome]) -> Iterator[tuple[str, list[JsonObject]]]:
    """The name of a file for each policy, and its documents."""
    by_policy: dict[int, list[RuleOutcome]] = {}
    for outcome in outcomes:
        by_policy.setdefault(id(outcome.home or outcome.document), []).append(outcome)
    names: dict[str, int] = {}
    for own in by_policy.values():
        documents = list(
            {
                (one["kind"], one["metadata"]["name"]): one
                for outcome in own
                for one in outcome.translation.documents
            }.values()
        )
        if documents:
            name = own[0].translation.origin.policy
            count = names[name] = names.get(name, 0) + 1
            yield f"{name}.yaml" if count == 1 else f"{name}-{count}.yaml", documents


def _warning(document: JsonObject) -> JsonObject:
    """Return a document, as a binding with actions that refuse nothing."""
    if document["kind"] != BINDING_KIND:
        return document
    return {**document, "spec": {**document["spec"], "validationActions": ["Warn", "Audit"]}}


def _laid_out(file: str, documents: Sequence[JsonObject]) -> str:
    """The documents as a file, expressions laid out as `celadon fmt` has them."""
    written = Text(file, "---\n".join(_written(one) for one in documents))
    return text_layout(written, _LINE_WIDTH).content()


def _written(document: JsonObject) -> str:
    group_kind = (ADMISSION_REGISTRATION, document["kind"])
    made = json.loads(json.dumps(document))  # a copy in which nothing is there twice
    for path, expression in expression_fields(group_kind, document):
        place: Any = made
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = laid_out(expression, _LINE_WIDTH - _INDENT) or expression
    text: str = yaml.dump(
        made, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LINE_WIDTH
    )
    return text


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _block)
