"""Validation of the built-in kinds: why an API server would refuse an object with 422.

One sub-room per area of the API. A rule is a generator of `FieldError`s over a plain JSON object
that has been decoded and defaulted (`defaulting.admit_form`), so values have the types of their
fields. Texts, paths and order are those of Kubernetes 1.36. Read `built_in_validations`
first: the table of what is validated how; then `field_checks` for the small checks that all others
are made of.
"""

from celadon.kube.validation.built_in_validations import validate_create, validate_update
from celadon.kube.validation.field_checks import NEGATIVE, NODES_STAY_NOMINATED, conditions
from celadon.kube.validation.format_checks import (
    http_path,
    labels,
    webhook_service_errors,
    webhook_url_errors,
)
from celadon.kube.validation.object_meta import (
    Naming,
    validate_annotations,
    validate_meta_of_update,
    validate_object_meta,
)

__all__ = [
    "NEGATIVE",
    "NODES_STAY_NOMINATED",
    "Naming",
    "conditions",
    "http_path",
    "labels",
    "validate_annotations",
    "validate_create",
    "validate_meta_of_update",
    "validate_object_meta",
    "validate_update",
    "webhook_service_errors",
    "webhook_url_errors",
]
