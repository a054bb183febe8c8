"""Prints values as Go prints them into texts that clients see: `%q`, `%v`, `%T`, `encoding/json`,
and its own syntax, `%#v`.

And what it takes for white space at their ends.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, cast

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_values import GoData, Kind
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import Quantity, parse_sent
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import ZERO_TIME
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

_NAMED_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_PLAIN: Final = late_pattern(r"[ !#-\[\]-~]*")
_HTML: Final = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}

_WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_TYPES: Final = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    type(None): "<nil>",
}


def _instead_of_byte(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\ufffd", error.start + 1


EACH_BYTE: Final = "celadon.each-byte"
"""How to decode UTF-8 as Go does: each byte that is none becomes a sign of its own."""
codecs.register_error(EACH_BYTE, _instead_of_byte)


def trim_space(text: str) -> str:
    """Return a text without space around it, as `strings.TrimSpace`: unlike `str.strip`, it leaves
    the separators 1c to 1f."""
    return text.strip(_WHITE_SPACE)


def _quoted_char(char: str) -> str:
    named = _NAMED_ESCAPES.get(char)
    if named is not None:
        return named
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:  # Go has no lone surrogates: it would hold the replacement
        return "\ufffd"
    if char.isprintable():
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown_integer(value: float) -> int:
    """Return the integer that Go writes for a whole double: no more digits than tell it from
    others, and zeros behind them."""
    return int(Decimal(repr(value)))


def quote(text: str) -> str:
    """Return a text as `%q` prints it, as `strconv.Quote`."""
    if _PLAIN.fullmatch(text) is not None:
        return f'"{text}"'
    return '"' + "".join(map(_quoted_char, text)) + '"'


def json_text(value: object) -> str:
    """Compact JSON as `json.Marshal` writes it: members in the order given, `<>&` escaped."""
    return client_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def client_json(text: str) -> str:
    """Return JSON that Python wrote as Go writes it for clients: `<>&` escaped, and doubles with an
    exponent only where they are very small or large."""
    if "e-0" in text or "e+1" in text or "e+2" in text:
        text = _STRING_OR_EXPONENT.sub(_go_number, text)
    return escaped_html(text)


_STRING_OR_EXPONENT: Final = late_pattern(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|(?<![0-9.])[0-9]++(?:\.[0-9]++)?e[-+][0-9]++'
)
_SMALLEST_PLAIN: Final = 1e-6
_LARGEST_PLAIN: Final = 1e21


def _go_number(match: re.Match[str]) -> str:
    token = match[0]
    if token[0] == '"':
        return token
    if _SMALLEST_PLAIN <= float(token) < _LARGEST_PLAIN:
        return format(Decimal(token), "f")
    return token.replace("e-0", "e-")


def sorted_members(value: object) -> Any:
    """Return a JSON value whose objects have their members by name, as `json.Marshal` has those of
    a map."""
    if isinstance(value, dict):
        return {key: sorted_members(value[key]) for key in sorted(value)}
    return [sorted_members(item) for item in value] if isinstance(value, list) else value


def escaped_html(text: str) -> str:
    """JSON with what browsers could take for something else written as escapes."""
    for char, escape in _HTML.items():
        if char in text:
            text = text.replace(char, escape)
    return text


def plain_text(value: object) -> str:
    """Return a JSON value as `%v` prints it: `map[a:1 b:[x y]]`."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{plain_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(plain_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # late: few such values are doubles, and the names of Kubernetes need no language.
        from celadon.cel.value_functions import text

        return text.go_float(value)
    return "<nil>" if value is None else str(value)


def type_text(value: object) -> str:
    """Return the Go type of a JSON value as `%T` prints it."""
    return _TYPES[dict] if isinstance(value, dict) else _TYPES.get(value.__class__, "float64")


# --- Go strconv --------------------------------------------------------------
#
# Numbers and booleans in texts, as Go's `strconv` reads them.

_INTEGER: Final = late_pattern(r"[+-]?[0-9]+", re.ASCII)
_DIGITS: Final = late_pattern(r"[0-9]+", re.ASCII)
_MOST_DIGITS: Final = 64
"""Longer texts are not worth converting: no integer of 64 bits has as many, save for zeros."""

_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def parse_bool(text: str) -> bool | None:
    """Return what `ParseBool` reads; None for what it refuses."""
    return _BOOLEANS.get(text)


def parse_int(text: str, bits: int = 64) -> int:
    """Return a decimal integer of so many bits. Raises ValueError with the text of Go's error."""
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("+-0")
    value = int(digits or "0") if len(digits) < _MOST_DIGITS else 1 << bits
    value = -value if text[0] == "-" else value
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return value


def int_or(text: str, otherwise: int) -> int:
    """Return what `Atoi` reads; `otherwise` for what it refuses.

    For texts of clients: Python's `int` raises where there are thousands of digits, and reads
    digits of all scripts, spaces and underscores.
    """
    try:
        return parse_int(text)
    except ValueError:
        return otherwise


def parse_uint(text: str, bits: int = 64) -> int:
    """Return a decimal number that is written without a sign. Raises ValueError with the text of
    Go's error."""
    if _DIGITS.fullmatch(text) is None:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("0")
    value = int(digits or "0") if len(digits) < _MOST_DIGITS else 1 << bits
    if value >= 1 << bits:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return value


# --- Go base64 ---------------------------------------------------------------
#
# Bytes in JSON: standard base64 with padding, as Go's `encoding/base64` reads and writes it.
#
# Line breaks are skipped, the unused bits of the last character are ignored, anything else is
# refused with the position of the first offending byte.

_CHARACTER: Final = "[A-Za-z0-9+/]"
_WELL_FORMED: Final = late_pattern(
    f"(?:{_CHARACTER}{{4}})*+(?:{_CHARACTER}{{2}}==|{_CHARACTER}{{3}}=)?"
)
_QUANTUM: Final = late_pattern(f"(?:[\r\n]*{_CHARACTER}){{4}}")
_BREAKS: Final = "\r\n"


class Base64Error(MalformedText):
    """The text is no base64; the message is Go's."""

    def __init__(self, position: int) -> None:
        super().__init__(f"illegal base64 data at input byte {position}")


def canonical_base64(text: str) -> str:
    """Return base64 of the same bytes, without line breaks and with unused bits zero."""
    bare = text.replace("\r", "").replace("\n", "")
    if _WELL_FORMED.fullmatch(bare) is None:
        raise Base64Error(_offending_byte(text))
    return base64.b64encode(base64.b64decode(bare)).decode() if bare.endswith("=") else bare


def _offending_byte(text: str) -> int:
    """Return where Go stops: quanta of four characters, the last of them possibly padded."""
    start = 0
    while (match := _QUANTUM.match(text, start)) is not None:
        start = match.end()
    characters, position = 0, start
    while position < len(text):
        char = text[position]
        if re.fullmatch(_CHARACTER, char):
            characters += 1
        elif char not in _BREAKS:
            break
        position += 1
    if position == len(text):  # the text ends inside a quantum
        return position - characters
    if text[position] != "=" or characters < 2:
        return position
    return _offence_in_padding(text, position + 1, missing=characters == 2)


def _offence_in_padding(text: str, position: int, *, missing: bool) -> int:
    """Look behind the first `=`: a second one where it is due, then nothing more."""
    position = _skip_breaks(text, position)
    if missing:
        if position == len(text):
            return position
        if text[position] != "=":
            return position - 1
        position = _skip_breaks(text, position + 1)
    return position


def _skip_breaks(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BREAKS:
        position += 1
    return position


# --- Go media type -----------------------------------------------------------
#
# Media types, as Go's `mime.ParseMediaType` reads them.

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_PARAMETER: Final = rf';\s*+{_TOKEN}\s*+=\s*+(?:{_TOKEN}|"(?:[^"\\]|\\.)*+")\s*+'
_MEDIA_TYPE: Final = late_pattern(rf"\s*+({_TOKEN}(?:/{_TOKEN})?)\s*+(?:{_PARAMETER})*+(?:;\s*+)?")
_LEADING_TOKEN: Final = late_pattern(_TOKEN)


def parse_media_type(text: str) -> str | None:
    """Return the type in lower case, without its parameters; None for what Go cannot read."""
    match = _MEDIA_TYPE.fullmatch(text)
    return None if match is None else match[1].lower()


def media_type_complaint(text: str) -> str:
    """Return what Go says of a text that `parse_media_type` cannot read."""
    kind, slash, subtype = text.partition(";")[0].strip().partition("/")
    name, more = _cut(kind)
    if not name:
        return "mime: no media type"
    if more:
        return "mime: expected slash after first token"
    name, more = _cut(subtype)
    if slash and not name:
        return "mime: expected token after slash"
    if more:
        return "mime: unexpected content after media subtype"
    return "mime: invalid media parameter"


def _cut(text: str) -> tuple[str, str]:
    """Return the token that a text begins with, and the rest."""
    match = _LEADING_TOKEN.match(text)
    name = match[0] if match else ""
    return name, text.removeprefix(name)


# --- Go's own syntax ---------------------------------------------------------
#
# How Go prints a value in its own syntax, `%#v`: `[]string{"a"}`, `v1.LabelSelector{…}`.
#
# That is how API servers before 1.34 showed values that are no plain text or number in errors
# about fields. The type stands before the value, so whoever reports an error names it
# (`GoValue`). JSON of an object does not know it: names of enums and the members of internal
# types are facts of the source of Kubernetes, in `pkg/apis/*/types.go`.

ANY: Final = "interface {}"
ADDRESS: Final = "0xc000000000"
"""Where everything is that only a pointer leads to. Go prints the address, which differs from run
to run: here it is always the same."""


@dataclass(frozen=True, slots=True)
class GoValue:
    """Holds a value as JSON has it, with its type in Go: what an error shows depends on the
    release.

    `whole` is the value with what JSON leaves out, such as empty maps that are not nil. `data`, if
    it is known, is the value with all its types.
    """

    value: Any
    type: str = ""
    whole: Any = None
    data: GoData | None = None

    @property
    def go_syntax(self) -> str:
        """Return the value as `%#v` prints it."""
        if self.data is not None:
            return data_syntax(self.data)
        return go_syntax(self.value if self.whole is None else self.whole, self.type)


def json_value(value: object) -> object:
    """Return decoded JSON as an error shows it: its lists and maps may hold anything, which Go
    tells, and have their members by name."""
    return GoValue(sorted_members(value)) if isinstance(value, list | dict) else value


_STRUCTS: Final[Mapping[str, str]] = {
    "admissionregistration.AuditAnnotation": "Key string; ValueExpression string",
    "apiextensions.CustomResourceColumnDefinition": """Name string; Type string; Format string;
        Description string; Priority int32; JSONPath string""",
    "apiextensions.CustomResourceDefinitionVersion": """Name string; Served bool; Storage bool;
        Deprecated bool; DeprecationWarning *string; Schema *apiextensions.CustomResourceValidation;
        Subresources *apiextensions.CustomResourceSubresources;
        AdditionalPrinterColumns []apiextensions.CustomResourceColumnDefinition;
        SelectableFields []apiextensions.SelectableField""",
    "apiextensions.JSONSchemaProps": """ID string; Schema apiextensions.JSONSchemaURL; Ref *string;
        Description string; Type string; Nullable bool; Format string; Title string;
        Default *apiextensions.JSON; Maximum *float64; ExclusiveMaximum bool; Minimum *float64;
        ExclusiveMinimum bool; MaxLength *int64; MinLength *int64; Pattern string; MaxItems *int64;
        MinItems *int64; UniqueItems bool; MultipleOf *float64; Enum []apiextensions.JSON;
        MaxProperties *int64; MinProperties *int64; Required []string;
        Items *apiextensions.JSONSchemaPropsOrArray; AllOf []apiextensions.JSONSchemaProps;
        OneOf []apiextensions.JSONSchemaProps; AnyOf []apiextensions.JSONSchemaProps;
        Not *apiextensions.JSONSchemaProps; Properties map[string]apiextensions.JSONSchemaProps;
        AdditionalProperties *apiextensions.JSONSchemaPropsOrBool;
        PatternProperties map[string]apiextensions.JSONSchemaProps;
        Dependencies apiextensions.JSONSchemaDependencies;
        AdditionalItems *apiextensions.JSONSchemaPropsOrBool;
        Definitions apiextensions.JSONSchemaDefinitions;
        ExternalDocs *apiextensions.ExternalDocumentation; Example *apiextensions.JSON;
        XPreserveUnknownFields *bool; XEmbeddedResource bool; XIntOrString bool;
        XListMapKeys []string; XListType *string; XMapType *string;
        XValidations apiextensions.ValidationRules""",
    "apiextensions.JSONSchemaPropsOrArray": """Schema *apiextensions.JSONSchemaProps;
        JSONSchemas []apiextensions.JSONSchemaProps""",
    "apiextensions.JSONSchemaPropsOrStringArray": """Schema *apiextensions.JSONSchemaProps;
        Property []string""",
    "apiextensions.SelectableField": "JSONPath string",
    "apiextensions.ValidationRule": """Rule string; Message string; MessageExpression string;
        Reason *apiextensions.FieldValueErrorReason; FieldPath string; OptionalOldSelf *bool""",
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
    "core.ClaimSource": "ResourceClaimName *string; ResourceClaimTemplateName *string",
    "core.ContainerResizePolicy": "ResourceName string; RestartPolicy string",
    "core.EventSource": "Component string; Host string",
    "core.HostIP": "IP string",
    "core.NodeAddress": "Type string; Address string",
    "core.NodeSelectorRequirement": """Key string; Operator core.NodeSelectorOperator;
        Values []string""",
    "core.NodeSelectorTerm": """MatchExpressions []core.NodeSelectorRequirement;
        MatchFields []core.NodeSelectorRequirement""",
    "core.ObjectReference": """Kind string; Namespace string; Name string; UID string;
        APIVersion string; ResourceVersion string; FieldPath string""",
    "core.PodIP": "IP string",
    "core.PodResourceClaim": """Name string; ResourceClaimName *string;
        ResourceClaimTemplateName *string""",
    "core.ScopeSelector": "MatchExpressions []core.ScopedResourceSelectorRequirement",
    "core.ScopedResourceSelectorRequirement": """ScopeName core.ResourceQuotaScope;
        Operator core.ScopeSelectorOperator; Values []string""",
    "core.ServicePort": """Name string; Protocol string; AppProtocol *string; Port int32;
        TargetPort intstr.IntOrString; NodePort int32""",
    "core.SecurityContext": """Capabilities *core.Capabilities; Privileged *bool;
        SELinuxOptions *core.SELinuxOptions; WindowsOptions *core.WindowsSecurityContextOptions;
        RunAsUser *int64; RunAsGroup *int64; RunAsNonRoot *bool; ReadOnlyRootFilesystem *bool;
        AllowPrivilegeEscalation *bool; ProcMount *core.ProcMountType;
        SeccompProfile *core.SeccompProfile; AppArmorProfile *core.AppArmorProfile""",
    "core.SeccompProfile": "Type string; LocalhostProfile *string",
    "core.Taint": """Key string; Value string; Effect core.TaintEffect;
        TimeAdded *v1.Time""",
    "core.Toleration": """Key string; Operator core.TolerationOperator; Value string;
        Effect core.TaintEffect; TolerationSeconds *int64""",
    "core.VolumeNodeAffinity": "Required *core.NodeSelector",
    "field.Path": "name string; index string; parent *field.Path",
    "flowcontrol.FlowDistinguisherMethod": "Type string",
    "flowcontrol.FlowSchemaSpec": """
        PriorityLevelConfiguration flowcontrol.PriorityLevelConfigurationReference;
        MatchingPrecedence int32; DistinguisherMethod *flowcontrol.FlowDistinguisherMethod;
        Rules []flowcontrol.PolicyRulesWithSubjects""",
    "flowcontrol.NonResourcePolicyRule": "Verbs []string; NonResourceURLs []string",
    "flowcontrol.PolicyRulesWithSubjects": """Subjects []flowcontrol.Subject;
        ResourceRules []flowcontrol.ResourcePolicyRule;
        NonResourceRules []flowcontrol.NonResourcePolicyRule""",
    "flowcontrol.PriorityLevelConfigurationReference": "Name string",
    "flowcontrol.PriorityLevelConfigurationSpec": """Type string;
        Limited *flowcontrol.LimitedPriorityLevelConfiguration;
        Exempt *flowcontrol.ExemptPriorityLevelConfiguration""",
    "flowcontrol.ResourcePolicyRule": """Verbs []string; APIGroups []string; Resources []string;
        ClusterScope bool; Namespaces []string""",
    "flowcontrol.Subject": """Kind string; User *flowcontrol.UserSubject;
        Group *flowcontrol.GroupSubject; ServiceAccount *flowcontrol.ServiceAccountSubject""",
    "networking.ParentReference": "Group string; Resource string; Namespace string; Name string",
    "networking.ServiceCIDRSpec": "CIDRs []string",
    "policy.PodDisruptionBudgetSpec": """MinAvailable *intstr.IntOrString;
        Selector *v1.LabelSelector; MaxUnavailable *intstr.IntOrString;
        UnhealthyPodEvictionPolicy *policy.UnhealthyPodEvictionPolicyType""",
    "rbac.RoleRef": "APIGroup string; Kind string; Name string",
    "resource.AllocationResult": """ResourceHandles []resource.ResourceHandle <1.31;
        AvailableOnNodes *core.NodeSelector <1.31; Shareable bool <1.31;
        Devices resource.DeviceAllocationResult 1.31; NodeSelector *core.NodeSelector 1.31;
        Controller string 1.31 <1.32""",
    "resource.Device": "Name string; Basic *resource.BasicDevice",
    "resource.DeviceAttribute": """IntValue *int64; BoolValue *bool; StringValue *string;
        VersionValue *string""",
    "resource.DeviceClaim": """Requests []resource.DeviceRequest;
        Constraints []resource.DeviceConstraint; Config []resource.DeviceClaimConfiguration""",
    "resource.DeviceClaimConfiguration": """Requests []string;
        DeviceConfiguration resource.DeviceConfiguration""",
    "resource.DeviceConstraint": """Requests []string;
        MatchAttribute *resource.FullyQualifiedName""",
    "resource.DeviceRequest": """Name string; DeviceClassName string <1.33;
        Selectors []resource.DeviceSelector <1.33; AllocationMode string <1.33; Count int64 <1.33;
        AdminAccess bool <1.32; AdminAccess *bool 1.32 <1.33;
        Exactly *resource.ExactDeviceRequest 1.33;
        FirstAvailable []resource.DeviceSubRequest 1.33""",
    "resource.DeviceSelector": "CEL *resource.CELDeviceSelector",
    "resource.DeviceSubRequest": """Name string; DeviceClassName string;
        Selectors []resource.DeviceSelector; AllocationMode string; Count int64;
        Tolerations []resource.DeviceToleration""",
    "resource.DeviceToleration": """Key string; Operator string; Value string; Effect string;
        TolerationSeconds *int64""",
    "resource.DeviceAllocationConfiguration": """Source resource.AllocationConfigSource;
        Requests []string; DeviceConfiguration resource.DeviceConfiguration""",
    "resource.DeviceConfiguration": "Opaque *resource.OpaqueDeviceConfiguration",
    "resource.DeviceAllocationResult": """Results []resource.DeviceRequestAllocationResult;
        Config []resource.DeviceAllocationConfiguration""",
    "resource.DeviceRequestAllocationResult": """Request string; Driver string; Pool string;
        Device string; AdminAccess *bool 1.32; Tolerations []resource.DeviceToleration 1.33""",
    "resource.ResourceClaimSpec": """ResourceClassName string <1.31;
        ParametersRef *resource.ResourceClaimParametersReference <1.31;
        AllocationMode string <1.31; Devices resource.DeviceClaim 1.31;
        Controller string 1.31 <1.32""",
    "resource.ResourceClaimTemplateSpec": """ObjectMeta v1.ObjectMeta;
        Spec resource.ResourceClaimSpec""",
    "resource.ResourcePool": "Name string; Generation int64; ResourceSliceCount int64",
    "resource.ResourceSliceSpec": """Driver string; Pool resource.ResourcePool; NodeName string;
        NodeSelector *core.NodeSelector; AllNodes bool; Devices []resource.Device""",
    "resource.ResourceHandle": """DriverName string; Data string;
        StructuredData *resource.StructuredResourceHandle""",
    "storage.CSINodeDriver": """Name string; NodeID string; TopologyKeys []string;
        Allocatable *storage.VolumeNodeResources""",
    "storage.VolumeAttachmentSource": """PersistentVolumeName *string;
        InlineVolumeSpec *core.PersistentVolumeSpec""",
    "storage.VolumeAttachmentSpec": """Attacher string; Source storage.VolumeAttachmentSource;
        NodeName string""",
    "v1.LabelSelector": """MatchLabels map[string]string;
        MatchExpressions []v1.LabelSelectorRequirement""",
    "v1.LabelSelectorRequirement": """Key string; Operator v1.LabelSelectorOperator;
        Values []string""",
    "v1.ManagedFieldsEntry": """Manager string; Operation string; APIVersion string;
        Time *v1.Time; FieldsType string; FieldsV1 *v1.FieldsV1; Subresource string""",
    "v1.ObjectMeta": """Name string; GenerateName string; Namespace string; SelfLink string;
        UID string; ResourceVersion string; Generation int64; CreationTimestamp v1.Time;
        DeletionTimestamp *v1.Time; DeletionGracePeriodSeconds *int64; Labels map[string]string;
        Annotations map[string]string; OwnerReferences []v1.OwnerReference; Finalizers []string;
        ManagedFields []v1.ManagedFieldsEntry""",
    "v1.OwnerReference": """APIVersion string; Kind string; Name string; UID types.UID;
        Controller *bool; BlockOwnerDeletion *bool""",
}
"""Members of structs, in order, some with the release that brought them, or `<` and the one that
took them away. They are found in JSON by their names, in any case."""

_TIME: Final = "*v1.Time"
"""This prints itself, and stumbles where there is none."""

_MAPS: Final[Mapping[str, str]] = {
    "apiextensions.JSONSchemaDefinitions": "map[string]apiextensions.JSONSchemaProps",
    "apiextensions.JSONSchemaDependencies": "map[string]apiextensions.JSONSchemaPropsOrStringArray",
    "core.ResourceList": "map[core.ResourceName]resource.Quantity",
}
"""Types that are maps under a name of their own."""

_LISTS: Final[Mapping[str, str]] = {
    "apiextensions.ValidationRules": "[]apiextensions.ValidationRule",
}
"""Types that are lists under a name of their own."""


def go_syntax(value: object, type_: str = "") -> str:
    """Return a value as `%#v` prints it. Without a type, that of decoded JSON."""
    if type_.startswith("*"):
        if value is None:
            return "<nil>" if type_ == _TIME else f"({type_})(nil)"
        return go_syntax(value, type_[1:])
    if type_ in _PRINTERS:
        return _PRINTERS[type_](value)
    if type_.startswith("[]") or type_ in _LISTS:
        return _printed_list(value, type_)
    if type_.startswith("map[") or type_ in _MAPS:
        return _printed_map(value, type_)
    if type_ in _STRUCTS:
        return _printed_struct(cast(JsonObject, value or {}), type_)
    return _untyped(value)


def _printed_list(items: Any, type_: str) -> str:
    if items is None:
        return f"{type_}(nil)"
    inner = _LISTS.get(type_, type_)[2:]
    return f"{type_}{{{', '.join(go_syntax(item, inner) for item in items)}}}"


def _printed_map(members: Any, type_: str) -> str:
    if members is None:
        return f"{type_}(nil)"
    inner = _MAPS.get(type_, type_).partition("]")[2]
    printed = (f"{quote(key)}:{go_syntax(members[key], inner)}" for key in sorted(members))
    return f"{type_}{{{', '.join(printed)}}}"


def _printed_struct(members: JsonObject, type_: str) -> str:
    by_name = {name.lower(): value for name, value in members.items()}
    fields = (field.split() for field in _STRUCTS[type_].split(";"))
    printed: list[str] = []
    for name, inner, *releases in fields:
        if all(map(_is_within, releases)):
            is_embedded = inner in _STRUCTS and inner.endswith(f".{name}")
            value = by_name.get(name.lower(), members if is_embedded else None)
            printed.append(f"{name}:{_member(value, inner)}")
    return f"{type_}{{{', '.join(printed)}}}"


def _is_within(release: str) -> bool:
    """Return whether it is that release or a later one; with `<`, an earlier one."""
    return not is_since(release[1:]) if release.startswith("<") else is_since(release)


_ZEROS: Final = {"bool": False, "int": 0, "int32": 0, "int64": 0}


def _member(value: Any, type_: str) -> str:
    if type_.removeprefix("*") == _TIME[1:] and (value or type_ != _TIME):
        return _date_syntax(value or "")
    if type_.startswith("*") and type_ != _TIME and value is not None:
        return f"({type_})({ADDRESS})"
    if value is not None or type_.startswith(("*", "[]", "map[")):
        return go_syntax(value, type_)
    if any(type_ in named for named in (_STRUCTS, _MAPS, _LISTS)):
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


# --- Values with all their types ---------------------------------------------


def data_syntax(data: GoData) -> str:
    """Return a value whose types are known, down to what pointers lead to, as `%#v` prints it."""
    if data.type == "v1.Time":
        return _date_syntax((data.members or {})["Time"].text)
    match data.kind:
        case Kind.TEXT:
            return quote(data.text)
        case Kind.PLAIN:
            return data.text
        case Kind.POINTER:
            if data.type == _TIME:
                return "<nil>" if data.target is None else data_syntax(data.target)
            address = "nil" if data.target is None else ADDRESS
            return f"({data.type})({address})"
    if data.members is None:
        return f"{data.type}(nil)"
    members: Iterable[tuple[str, GoData]] = data.members.items()
    if data.kind is Kind.MAP:
        members = sorted((quote(key), member) for key, member in members)
    printed = (
        data_syntax(member) if data.kind is Kind.LIST else f"{name}:{data_syntax(member)}"
        for name, member in members
    )
    return f"{data.type}{{{', '.join(printed)}}}"


def _date_syntax(text: str) -> str:
    """Print a time: in the zone of the server if it was read, in UTC if it ends with `UTC_NOW`, or
    the one that nobody has set."""
    if not text:
        return "time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)"
    zone = "UTC" if text.endswith(UTC_NOW) else "Local"
    year, month, *rest = map(int, _NUMBERS.findall(text.removesuffix(UTC_NOW)))
    numbers = ", ".join(map(str, rest))
    return f"time.Date({year}, time.{MONTHS[month - 1]}, {numbers}, 0, time.{zone})"


UTC_NOW: Final = "+00:00"
"""How a time ends that a server took from its clock: no time that was read has this zone."""


MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
"""Months by the names of the constants of the package `time`."""
_NUMBERS: Final = late_pattern("[0-9]+")


# --- Types with a form of their own ------------------------------------------


def _printed_device(value: JsonObject) -> str:
    """Print a device of a claim by its names; few have a part."""
    *names, share = value.values()
    return "/".join([*names, share] if share else names)


def _printed_bytes(value: Any) -> str:
    """Bytes, which JSON has in base64."""
    if value is None:
        return "[]byte(nil)"
    try:
        data = base64.b64decode(value)
    except binascii.Error:
        data = b""
    return f"[]byte{{{', '.join(f'{byte:#x}' for byte in data)}}}"


def _printed_raw(value: object) -> str:
    """Print an object that nobody has read: its JSON as it was sent, taken to be without spaces."""
    return f"runtime.RawExtension{{Raw:{_printed_json(value)}, Object:runtime.Object(nil)}}"


def _printed_json(value: object) -> str:
    if value is None:
        return "[]uint8(nil)"
    plain = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    text = getattr(value, "text", plain)  # raw JSON is printed as it was read
    data = text.encode()
    return f"[]uint8{{{', '.join(f'{byte:#x}' for byte in data)}}}"


def _printed_unknown(value: object) -> str:
    """Print the same as it was before 1.31, with what was known of it."""
    return (
        f'runtime.Unknown{{TypeMeta:runtime.TypeMeta{{APIVersion:"", Kind:""}}, '
        f'Raw:{_printed_json(value)}, ContentEncoding:"", ContentType:"application/json"}}'
    )


def _printed_time(value: object) -> str:
    """Print a time, which has a text that Go prefers to its members: `2001-01-01 00:00:00 +0000
    UTC`."""
    date, _, time = str(value or ZERO_TIME).removesuffix("Z").partition("T")
    seconds, point, fraction = time.partition(".")
    fraction = fraction.rstrip("0")
    return f"{date} {seconds}{point if fraction else ''}{fraction} +0000 UTC"


def _printed_quantity(value: str) -> str:
    """Print an amount as it was read: Go keeps a text that is surely in canonical form."""
    amount = parse_sent(value)
    return _printed_amount(amount, amount.text)


def _printed_shown_quantity(value: str) -> str:
    """Print an amount whose text somebody has asked for, which Go keeps."""
    return _printed_amount(parse_sent(value), value)


def _printed_amount(amount: Quantity, text: str) -> str:
    """Print an amount with the number and the power of ten that it was read from, or the address of
    a number that no int64 holds."""
    exact = "nil" if amount.exact is None else ADDRESS
    return (
        f"resource.Quantity{{i:resource.int64Amount{{value:{amount.mantissa}, "
        f"scale:{amount.scale}}}, d:resource.infDecAmount{{Dec:(*inf.Dec)({exact})}}, "
        f's:{quote(text)}, Format:"{amount.format.value}"}}'
    )


def _printed_int_or_string(value: Any) -> str:
    is_text = isinstance(value, str)
    number, text = (0, value) if is_text else (value or 0, "")
    return f"intstr.IntOrString{{Type:{int(is_text)}, IntVal:{number}, StrVal:{quote(text)}}}"


SHOWN_QUANTITY: Final = "resource.Quantity, shown"
"""Amounts that the detail of their error shows, too."""

_PRINTERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "[]byte": _printed_bytes,
    "core.ResourceName": str,
    "intstr.IntOrString": _printed_int_or_string,
    "resource.Quantity": _printed_quantity,
    SHOWN_QUANTITY: _printed_shown_quantity,
    "runtime.RawExtension": _printed_raw,
    "runtime.Unknown": _printed_unknown,
    "structured.SharedDeviceID": _printed_device,
    "uint64": lambda value: f"{value:#x}",
    "v1.MicroTime": _printed_time,
    "v1.Time": _printed_time,
}
