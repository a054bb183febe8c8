"""The words of Kubernetes: names, metadata, selectors, Status, resources, schemas, defaulting.

Pure data and rules over plain JSON objects: nothing here talks to a server, reads a clock or
changes an object it was given. Read `names` first, then `resources` (what a server knows), then
`defaulting` (what an object looks like when admission sees it). Modules whose functions read best
with the module's name in front (`metadata.labels(obj)`, `status.not_found(...)`,
`fieldpath.required(...)`, `name_rules.dns1123_label(...)`) are exported as modules.
"""

from celadon.kube import fieldpath, metadata, name_rules, status
from celadon.kube.authorization import User
from celadon.kube.defaulting.context import ClusterObjects, DefaultingContext, Requester
from celadon.kube.defaulting.stages import admit_form, stored_form, updated_form
from celadon.kube.field_selectors import FieldSelector, FieldTerm, parse_field_selector
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go_text import json_text, quote
from celadon.kube.names import (
    ApiVersionError,
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    parse_api_version,
)
from celadon.kube.quantity import Quantity, QuantityError
from celadon.kube.quantity import parse as parse_quantity
from celadon.kube.resources import (
    ApiGroup,
    Catalog,
    Resource,
    Subresource,
    api_groups,
    custom_resources,
    guess_resource,
    known_resources,
)
from celadon.kube.selector_text import parse_label_selector
from celadon.kube.selectors import LabelSelector, Requirement, SelectorError, label_selector
from celadon.kube.status import Status, StatusCause, StatusDetails, StatusError
from celadon.kube.typed_values import DecodeError
from celadon.kube.versions import environment

__all__ = [
    "ApiGroup",
    "ApiVersionError",
    "Catalog",
    "ClusterObjects",
    "DecodeError",
    "DefaultingContext",
    "FieldError",
    "FieldPath",
    "FieldSelector",
    "FieldTerm",
    "GroupKind",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "LabelSelector",
    "Quantity",
    "QuantityError",
    "Requester",
    "Requirement",
    "Resource",
    "SelectorError",
    "Status",
    "StatusCause",
    "StatusDetails",
    "StatusError",
    "Subresource",
    "User",
    "admit_form",
    "api_groups",
    "custom_resources",
    "environment",
    "fieldpath",
    "guess_resource",
    "json_text",
    "known_resources",
    "label_selector",
    "metadata",
    "name_rules",
    "parse_api_version",
    "parse_field_selector",
    "parse_label_selector",
    "parse_quantity",
    "quote",
    "status",
    "stored_form",
    "updated_form",
]
