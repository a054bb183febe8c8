"""Azure Policy's definitions for clusters (mode `Microsoft.Kubernetes.Data`), initiatives and
assignments, read into the constraints that Azure makes of them in each cluster.

A definition names a constraint template, by URL or as text in Base64, and says what the constraint
has, with parameters in it (`[parameters('effect')]`). An assignment, of the definition or of an
initiative that has it, gives the parameters values. Of the language of Azure's expressions only
parameters, and fields of them, are read.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from celadon.kube import Json, JsonObject
from celadon.kube.json_types import JsonDict, Needed, Shape
from celadon.kube.well_known_values import GATEKEEPER_CONSTRAINTS
from celadon.migrate.translations import NotTranslated, Origin, Translation, object_name

_MODE: Final = "microsoft.kubernetes.data"
_PARAMETERS: Final[Shape] = {str: {}}
_VALUES: Final[Shape] = {"parameters": _PARAMETERS, "displayName": str, "enforcementMode": str}

_DEFINITION: Final[Shape] = {
    "name": str,
    "properties": Needed(
        {
            "displayName": str,
            "description": str,
            "parameters": _PARAMETERS,
            "policyRule": Needed({"then": Needed({"effect": Needed(str), "details": {}})}),
        }
    ),
}
_INITIATIVE: Final[Shape] = {
    "name": str,
    "properties": Needed(
        {
            "displayName": str,
            "parameters": _PARAMETERS,
            "policyDefinitions": Needed(
                [
                    {
                        "policyDefinitionId": Needed(str),
                        "policyDefinitionReferenceId": str,
                        "parameters": _PARAMETERS,
                    }
                ]
            ),
        }
    ),
}
_ASSIGNMENT: Final[Shape] = {
    "name": str,
    "properties": Needed({**_VALUES, "policyDefinitionId": Needed(str)}),
}

KINDS: Final[Mapping[str, Shape]] = {
    "PolicyDefinition": _DEFINITION,
    "PolicySetDefinition": _INITIATIVE,
    "PolicyAssignment": _ASSIGNMENT,
}
"""What Azure's documents are called here, and the shapes that they must have."""
GROUP: Final = "authorization.azure.com"
"""A group for documents that have none."""

_ALWAYS_EXCLUDED: Final = ("kube-system", "gatekeeper-system", "azure-arc")
"""Namespaces that Azure exempts whatever a definition says (aka.ms/kubepolicydoc)."""
_GIVE_VALUES: Final = "Give the assignment along: `az policy assignment show`."


def azure_document(value: object) -> JsonDict | None:
    """Return a document of Azure Policy as an object with a kind; None of what is none. Those that
    `az` prints have their properties beside the name."""
    if not isinstance(value, dict) or "apiVersion" in value:
        return None
    properties = value.get("properties")
    if not isinstance(properties, dict):
        properties = value
    if "policyDefinitions" in properties:
        kind = "PolicySetDefinition"
    elif "policyDefinitionId" in properties:
        kind = "PolicyAssignment"
    elif "policyRule" in properties and str(properties.get("mode")).lower() == _MODE:
        kind = "PolicyDefinition"
    else:
        return None
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": kind,
        "metadata": {"name": str(value.get("name") or "")},
        "name": str(value.get("name") or ""),
        "properties": properties,
    }


def azure_documents(value: object) -> Iterator[tuple[tuple[str | int, ...], JsonDict]]:
    """Yield the documents of Azure in what a file has, one or a list of them, each with its
    path."""
    result = azure_document(value)
    if result is not None:
        yield (), result
    listed, path = value, list[str | int]()
    if isinstance(value, dict):  # what `az rest` prints
        listed, path = value.get("value"), ["value"]
    for index, item in enumerate(listed if isinstance(listed, list) else ()):
        result = azure_document(item)
        if result is not None:
            yield (*path, index), result


def azure_shape(value: object) -> Shape | None:
    """Return the shape that a document of Azure must have; None of others."""
    if isinstance(value, Mapping) and str(value.get("apiVersion")).startswith(f"{GROUP}/"):
        return KINDS.get(str(value.get("kind")))
    return None


# --- Uses of definitions -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class AzureUse:
    """A definition, as an assignment or an initiative uses it."""

    definition: JsonObject
    name: str
    values: JsonObject
    """Of its parameters, those that are given."""
    is_enforced: bool = True
    """Whether what it denies is refused: assignments may only report."""

    def constraint(self, kind: str) -> JsonDict:
        """Return the constraint, of a template's kind, that Azure makes of it. Raises
        NotTranslated."""
        return constraint_of(self, kind)

    def embedded_template(self) -> bytes | None:
        """Return the text of a template that stands in the definition; None where it names a URL.
        Raises NotTranslated."""
        return embedded_template(self.definition)

    def is_of_template(self, file: str, kind: str) -> bool:
        """Return whether the definition names the template of a kind that is in a file."""
        return is_template_of(template_url(self.definition), file, kind)

    def left_out(self, error: NotTranslated | None = None) -> Translation:
        """Return why it is not translated: without an error, since its template is not there."""
        if error is None:
            return without_template(self.definition)
        origin = Origin(_title(self.definition), self.name, (), "validate")
        return Translation(origin, reason=error.reason, instead=error.instead)


@dataclass
class AzurePolicies:
    """Holds all documents of Azure Policy that were read."""

    definitions: list[JsonObject] = field(default_factory=list)
    initiatives: list[JsonObject] = field(default_factory=list)
    assignments: list[JsonObject] = field(default_factory=list)

    @staticmethod
    def documents(value: object) -> Iterator[tuple[tuple[str | int, ...], JsonDict]]:
        """Yield the documents of Azure in what a file has, each with its path."""
        return azure_documents(value)

    @staticmethod
    def shape(value: object) -> Shape | None:
        """Return the shape that a document of Azure must have; None of others."""
        return azure_shape(value)

    def add(self, document: JsonObject) -> None:
        """Take in a document that has its shape."""
        kind = document["kind"]
        if kind == "PolicyDefinition":
            self.definitions.append(document)
        elif kind == "PolicySetDefinition":
            self.initiatives.append(document)
        else:
            self.assignments.append(document)

    def uses(self, definition: JsonObject) -> Iterator[AzureUse]:
        """Yield how a definition is used: by its assignments and by those of initiatives; without
        any, by initiatives, or as it stands."""
        key = _key(definition["name"])
        direct = [assignment for assignment in self.assignments if _assigned(assignment) == key]
        for item in direct:
            yield AzureUse(definition, _title(item), _given(item["properties"]), _enforces(item))
        is_used = bool(direct)
        for initiative in self.initiatives:
            members = [
                policy_definition
                for policy_definition in initiative["properties"]["policyDefinitions"]
                if _key(policy_definition["policyDefinitionId"]) == key
            ]
            above = [
                assignment
                for assignment in self.assignments
                if _assigned(assignment) == _key(initiative["name"])
            ]
            if not members or (self.assignments and not above):
                continue
            is_used = True
            for member in members:
                yield from self._members(definition, initiative, member, above)
        if not is_used and not self.assignments:
            yield AzureUse(definition, _title(definition), {})

    def _members(
        self,
        definition: JsonObject,
        initiative: JsonObject,
        member: JsonObject,
        assignments: Sequence[JsonObject],
    ) -> Iterator[AzureUse]:
        name = member.get("policyDefinitionReferenceId") or _title(definition)
        for assignment in assignments or (None,):
            data = _given(assignment["properties"]) if assignment is not None else {}
            parameters = _with_defaults(initiative, data)
            values: JsonDict = {}
            for key, value in _given(member).items():
                # What has no value in the initiative has none in the definition.
                try:
                    values[key] = _resolved(value, parameters)
                except NotTranslated:
                    continue
            prefix = (
                f"{_title(assignment)}-" if assignment is not None and len(assignments) > 1 else ""
            )
            yield AzureUse(
                definition, f"{prefix}{name}", values, assignment is None or _enforces(assignment)
            )


_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def _key(identifier: str) -> str:
    """Return the last part of an id, which names a definition wherever it stands."""
    return identifier.rpartition("/")[2].lower()


def _assigned(assignment: JsonObject) -> str:
    return _key(assignment["properties"]["policyDefinitionId"])


def _enforces(assignment: JsonObject) -> bool:
    mode: object = assignment["properties"].get("enforcementMode")
    return mode != "DoNotEnforce"


def _title(document: JsonObject) -> str:
    """Return what a document is called: many have no name but a number."""
    name: str = document["name"]
    if name and not _UUID.fullmatch(name):
        return name
    return str(document["properties"].get("displayName") or name)


def _given(holder: JsonObject) -> JsonDict:
    """Return the values of parameters."""
    return {
        name: parameter["value"]
        for name, parameter in (holder.get("parameters") or {}).items()
        if isinstance(parameter, Mapping) and "value" in parameter
    }


def _with_defaults(document: JsonObject, data: JsonObject) -> JsonDict:
    """Return the values of all parameters of a definition or an initiative that have one."""
    # Names of parameters are read without case.
    values = {name.lower(): value for name, value in data.items()}
    for name, parameter in (document["properties"].get("parameters") or {}).items():
        if isinstance(parameter, Mapping) and "defaultValue" in parameter:
            values.setdefault(name.lower(), parameter["defaultValue"])
    return values


_PARAMETER: Final = re.compile(r"\[\s*parameters\(\s*'([^']+)'\s*\)((?:\.\w+)*)\s*\]", re.ASCII)


def _resolved(value: Json, values: JsonObject) -> Json:
    """Return a value with the parameters in it. Raises NotTranslated."""
    if isinstance(value, Mapping):
        return {name: _resolved(value, values) for name, value in value.items()}
    if isinstance(value, list):
        return [_resolved(item, values) for item in value]
    if not isinstance(value, str) or not value.startswith("["):
        return value
    if value.startswith("[["):
        return value[1:]
    match = _PARAMETER.fullmatch(value)
    if match is None:
        raise NotTranslated(f"an expression of Azure (`{value}`)", "Write its value in its place.")
    name, steps = match[1], match[2].split(".")[1:]
    if name.lower() not in values:
        raise NotTranslated(f"a parameter without a value (`{name}`)", _GIVE_VALUES)
    result: Any = values[name.lower()]
    for step in steps:
        if not isinstance(result, Mapping) or step not in result:
            raise NotTranslated(f"a parameter without a value (`{name}.{step}`)", _GIVE_VALUES)
        result = result[step]
    return result  # type: ignore[no-any-return]


# --- Constraints -------------------------------------------------------------

_ACTIONS: Final = {
    "audit": "dryrun",
    "deny": "deny",
    # What the preview called them.
    "enforceopaconstraint": "deny",
    "enforceregopolicy": "deny",
}
_LISTED: Final = ("apiGroups", "kinds", "namespaces", "excludedNamespaces")


def embedded_template(definition: JsonObject) -> bytes | None:
    """Return the text of a template that stands in a definition; None where it names a URL. Raises
    NotTranslated."""
    info = _details(definition).get("templateInfo")
    if not isinstance(info, Mapping) or "content" not in info:
        return None
    try:
        return base64.b64decode(str(info["content"]), validate=True)
    except (binascii.Error, ValueError):
        raise NotTranslated("a template that is no Base64") from None


def template_url(definition: JsonObject) -> str:
    """Return where a definition's template is, empty if it does not say."""
    details = _details(definition)
    info = details.get("templateInfo")
    url = info.get("url") if isinstance(info, Mapping) else details.get("constraintTemplate")
    return str(url or "")


def _details(definition: JsonObject) -> JsonObject:
    details: JsonObject = definition["properties"]["policyRule"]["then"].get("details") or {}
    return details


def without_template(definition: JsonObject) -> Translation:
    """Return why a definition is not translated whose template is not there."""
    url = template_url(definition)
    origin = Origin(_title(definition), "", (), "validate")
    if "mutationInfo" in _details(definition):
        origin = Origin(_title(definition), "", (), "mutate")
        return Translation(
            origin, reason="it mutates objects", instead="Write a MutatingAdmissionPolicy."
        )
    if not url:
        return Translation(origin, reason="a definition that names no template")
    path = "/".join(url.rpartition("://")[2].split("/")[1:])
    return Translation(
        origin,
        reason=f"a definition without its template ({url})",
        instead=f"Give the template along: the cluster has it, or save it as `{path}`.",
    )


def constraint_of(use: AzureUse, kind: str) -> JsonDict:
    """Return the constraint, of a template's kind, that Azure makes of a definition. Raises
    NotTranslated."""
    consequence = use.definition["properties"]["policyRule"]["then"]
    values = _with_defaults(use.definition, use.values)
    details = _details(use.definition)
    # The older form names a text of a constraint beside the template.
    if "constraint" in details:
        raise NotTranslated(
            "a definition with a text for its constraint (`constraint`)",
            "Azure has replaced that with `templateInfo`: the cluster has the constraint.",
        )
    effect = str(_resolved(consequence["effect"], values)).lower()
    if effect == "disabled":
        raise NotTranslated("a definition whose effect is `Disabled`")
    if effect not in _ACTIONS:
        raise NotTranslated(f"the effect `{effect}`")
    action = _ACTIONS[effect] if use.is_enforced else "dryrun"
    read: dict[str, Any] = {
        name: _resolved(details[name], values)
        for name in (*_LISTED, "labelSelector", "source", "warn", "values")
        if name in details
    }
    if read.get("warn") is True and action == "dryrun":
        action = "warn"
    excluded = dict.fromkeys([*(read.get("excludedNamespaces") or ()), *_ALWAYS_EXCLUDED])
    match: JsonDict = {"excludedNamespaces": list(excluded)}
    if read.get("kinds"):
        match["kinds"] = [{"apiGroups": read.get("apiGroups") or [""], "kinds": read["kinds"]}]
    for name in ("namespaces", "labelSelector", "source"):
        if read.get(name):
            match[name] = read[name]
    return {
        "apiVersion": f"{GATEKEEPER_CONSTRAINTS}/v1beta1",
        "kind": kind,
        "metadata": {"name": object_name([use.name])[:_LONGEST_NAME].strip("-.")},
        "spec": {
            "enforcementAction": action,
            "match": match,
            "parameters": read.get("values") or {},
        },
    }


_LONGEST_NAME: Final = 100

_VERSION: Final = re.compile(r"v[0-9]+", re.ASCII)


def is_template_of(url: str, file: str, kind: str) -> bool:
    """Return whether the template of a kind, in a file, is the one at a URL: either the path says
    so, or the name of its folder with the version in the kind."""
    theirs = url.rpartition("://")[2].split("/")
    ours = file.replace("\\", "/").split("/")
    if len(theirs) < _TOLD_BY or len(ours) < _TOLD_BY - 1:
        return False
    if ours[-_TOLD_BY:] == theirs[-_TOLD_BY:]:
        return True
    folder, version, name = theirs[-_TOLD_BY:]
    is_versioned = _VERSION.fullmatch(version) is not None
    is_same = ours[-2:] == [folder, name] and kind.startswith(f"K8sAzure{version.upper()}")
    return is_versioned and is_same


_TOLD_BY: Final = 3
"""Parts of a URL that tell templates apart: folder, version, file."""
