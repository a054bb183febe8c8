"""How Go prints a value in its own syntax, `%#v`: `[]string{"a"}`, `v1.LabelSelector{…}`.

That is how API servers before 1.34 showed values that are no plain text or number in errors about
fields. The type stands before the value, so whoever reports an error names it (`GoValue`). JSON of
an object does not know it: names of enums and the members of internal types are facts of the source
of Kubernetes, in `pkg/apis/*/types.go`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import BINARY_SUFFIXES, sent_as
from celadon.records import dataclass

ANY: Final = "interface {}"


@dataclass(frozen=True, slots=True)
class GoValue:
    """A value as JSON has it, with its type in Go: what an error shows depends on the release.

    `whole` is the value with what JSON leaves out, such as empty maps that are not nil.
    """

    value: Any
    type: str
    whole: Any = None

    @property
    def go_syntax(self) -> str:
        """Return it as `%#v` prints it."""
        return go_syntax(self.value if self.whole is None else self.whole, self.type)


_STRUCTS: Final[Mapping[str, str]] = {
    "admissionregistration.AuditAnnotation": "Key string; ValueExpression string",
    "apiextensions.CustomResourceDefinitionVersion": """Name string; Served bool; Storage bool;
        Deprecated bool; DeprecationWarning *string; Schema *apiextensions.CustomResourceValidation;
        Subresources *apiextensions.CustomResourceSubresources;
        AdditionalPrinterColumns []apiextensions.CustomResourceColumnDefinition;
        SelectableFields []apiextensions.SelectableField""",
    "apps.DaemonSetUpdateStrategy": "Type string; RollingUpdate *apps.RollingUpdateDaemonSet",
    "apps.DeploymentStrategy": "Type string; RollingUpdate *apps.RollingUpdateDeployment",
    "apps.RollingUpdateStatefulSetStrategy": """Partition int32;
        MaxUnavailable *intstr.IntOrString""",
    "apps.StatefulSetUpdateStrategy": """Type string;
        RollingUpdate *apps.RollingUpdateStatefulSetStrategy""",
    "authorization.NonResourceAttributes": "Path string; Verb string",
    "batch.PodFailurePolicy": "Rules []batch.PodFailurePolicyRule",
    "batch.PodFailurePolicyOnPodConditionsPattern": "Type string; Status string",
    "batch.PodFailurePolicyRule": """Action string;
        OnExitCodes *batch.PodFailurePolicyOnExitCodesRequirement;
        OnPodConditions []batch.PodFailurePolicyOnPodConditionsPattern""",
    "batch.SuccessPolicy": "Rules []batch.SuccessPolicyRule",
    "batch.SuccessPolicyRule": "SucceededIndexes *string; SucceededCount *int32",
    "batch.UncountedTerminatedPods": "Succeeded []types.UID; Failed []types.UID",
    "core.ContainerResizePolicy": "ResourceName string; RestartPolicy string",
    "core.HostIP": "IP string",
    "core.NodeSelectorRequirement": """Key string; Operator core.NodeSelectorOperator;
        Values []string""",
    "core.NodeSelectorTerm": """MatchExpressions []core.NodeSelectorRequirement;
        MatchFields []core.NodeSelectorRequirement""",
    "core.PodIP": "IP string",
    "core.ScopeSelector": "MatchExpressions []core.ScopedResourceSelectorRequirement",
    "core.ScopedResourceSelectorRequirement": """ScopeName core.ResourceQuotaScope;
        Operator core.ScopeSelectorOperator; Values []string""",
    "core.Taint": """Key string; Value string; Effect core.TaintEffect;
        TimeAdded *v1.Time""",
    "core.Toleration": """Key string; Operator core.TolerationOperator; Value string;
        Effect core.TaintEffect; TolerationSeconds *int64""",
    "networking.ServiceCIDRSpec": "CIDRs []string",
    "rbac.RoleRef": "APIGroup string; Kind string; Name string",
    "storage.CSINodeDriver": """Name string; NodeID string; TopologyKeys []string;
        Allocatable *storage.VolumeNodeResources""",
    "v1.LabelSelector": """MatchLabels map[string]string;
        MatchExpressions []v1.LabelSelectorRequirement""",
    "v1.LabelSelectorRequirement": """Key string; Operator v1.LabelSelectorOperator;
        Values []string""",
    "v1.OwnerReference": """APIVersion string; Kind string; Name string; UID types.UID;
        Controller *bool; BlockOwnerDeletion *bool""",
}
"""Members of structs, in order. They are found in JSON by their names, in any case."""

_TIME: Final = "*v1.Time"
"""This prints itself, and stumbles where there is none."""

_MAPS: Final[Mapping[str, str]] = {
    "core.ResourceList": "map[core.ResourceName]resource.Quantity",
}
"""Types that are maps under a name of their own."""


def go_syntax(value: object, type_: str = "") -> str:
    """A value as `%#v` prints it. Without a type, that of decoded JSON."""
    if type_.startswith("*"):
        if value is None:
            return "<nil>" if type_ == _TIME else f"({type_})(nil)"
        return go_syntax(value, type_[1:])
    if type_ in _PRINTERS:
        return _PRINTERS[type_](value)
    if type_.startswith("[]"):
        return _printed_list(value, type_)
    if type_.startswith("map[") or type_ in _MAPS:
        return _printed_map(value, type_)
    if type_ in _STRUCTS:
        return _printed_struct(cast(JsonObject, value or {}), type_)
    return _untyped(value)


def _printed_list(items: Any, type_: str) -> str:
    if items is None:
        return f"{type_}(nil)"
    return f"{type_}{{{', '.join(go_syntax(item, type_[2:]) for item in items)}}}"


def _printed_map(members: Any, type_: str) -> str:
    if members is None:
        return f"{type_}(nil)"
    inner = _MAPS.get(type_, type_).partition("]")[2]
    printed = (f"{quote(key)}:{go_syntax(members[key], inner)}" for key in sorted(members))
    return f"{type_}{{{', '.join(printed)}}}"


def _printed_struct(members: JsonObject, type_: str) -> str:
    by_name = {name.lower(): value for name, value in members.items()}
    fields = (field.split() for field in _STRUCTS[type_].split(";"))
    printed = (f"{name}:{_member(by_name.get(name.lower()), inner)}" for name, inner in fields)
    return f"{type_}{{{', '.join(printed)}}}"


_ZEROS: Final = {"bool": False, "int": 0, "int32": 0, "int64": 0}


def _member(value: Any, type_: str) -> str:
    if value is not None or type_.startswith(("*", "[]", "map[")) or type_ in _STRUCTS:
        return go_syntax(value, type_)
    return _untyped(_ZEROS.get(type_, ""))


def _untyped(value: object) -> str:
    if value is None:
        return f"{ANY}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        return _printed_list(value, f"[]{ANY}")
    if isinstance(value, dict):
        return _printed_map(value, f"map[string]{ANY}")
    if isinstance(value, float):
        # late: few bad values are doubles, and the names of Kubernetes need no language.
        from celadon.cel.value_functions import text

        return text.go_float(value)
    return str(value)


# --- Types with a form of their own ------------------------------------------


def _printed_bytes(value: Any) -> str:
    """Bytes, which JSON has in base64."""
    if value is None:
        return "[]byte(nil)"
    try:
        data = base64.b64decode(value)
    except binascii.Error:
        data = b""
    return f"[]byte{{{', '.join(f'{byte:#x}' for byte in data)}}}"


def _printed_time(value: object) -> str:
    """A time, which has a text that Go prefers to its members: `2001-01-01 00:00:00 +0000 UTC`."""
    return f"{str(value).removesuffix('Z').replace('T', ' ')} +0000 UTC"


def _printed_quantity(value: object) -> str:
    """An amount with the number, the power of ten and the text that it was read from."""
    text = str(value)
    number, scale, form = _amount(sent_as(text))
    return (
        f"resource.Quantity{{i:resource.int64Amount{{value:{number}, scale:{scale}}}, "
        f'd:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:{quote(text)}, Format:"{form}"}}'
    )


_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def _amount(text: str) -> tuple[int, int, str]:
    if text[-2:] in BINARY_SUFFIXES:
        return int(text[:-2]) << BINARY_SUFFIXES[text[-2:]], 0, "BinarySI"
    if text[-1:] in _DECIMAL:
        digits, scale, form = text[:-1], _DECIMAL[text[-1]], "DecimalSI"
    else:
        digits, _, exponent = text.lower().partition("e")
        scale, form = int(exponent or 0), "DecimalExponent" if exponent else "DecimalSI"
    whole, _, fraction = digits.partition(".")
    return int(f"{whole}{fraction}"), scale - len(fraction), form


def _printed_int_or_string(value: Any) -> str:
    is_text = isinstance(value, str)
    number, text = (0, value) if is_text else (value or 0, "")
    return f"intstr.IntOrString{{Type:{int(is_text)}, IntVal:{number}, StrVal:{quote(text)}}}"


_PRINTERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "[]byte": _printed_bytes,
    "core.ResourceName": str,
    "intstr.IntOrString": _printed_int_or_string,
    "resource.Quantity": _printed_quantity,
    "uint64": lambda value: f"{value:#x}",
    "v1.Time": _printed_time,
}
