"""What an API server says about the validation rules of a CRD.

Texts of k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldError, FieldPath

NO_RULE: Final = "rule is not specified"
EMPTY: Final = "must be non-empty if specified"
BROKEN: Final = "must not contain line breaks"
NO_MESSAGE: Final = "message must be specified if rule contains line breaks"
EMPTY_EXPRESSION: Final = "messageExpression must be non-empty if specified"
WRONG_PATH: Final = "must be a valid path"
WITHOUT_TYPE: Final = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: "
    "unable to convert structural schema to CEL declarations"
)
OPTIONAL_WITHOUT_OLD_SELF: Final = "may not be set if oldSelf is not used in rule"

_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)
_SCHEMA: Final = "entire OpenAPIv3 schema"
_SMALL_FACTOR: Final = 1.5
_LARGE_FACTOR: Final = 100.0


def uncorrelatable(path: str) -> str:
    """A rule with `oldSelf` below a list whose items nobody can recognize; `path` is that list."""
    return f"oldSelf cannot be used on the uncorrelatable portion of the schema within {path}"


def too_expensive(path: FieldPath, what: str, cost: int, limit: int) -> FieldError:
    """`what` is `rule` or `messageExpression`."""
    return fieldpath.forbidden(path, _exceeds(f"estimated {what} cost", cost, limit))


def contributed(path: FieldPath) -> FieldError:
    """One of the most expensive rules, when all together cost too much."""
    detail = f"contributed to estimated rule cost total exceeding cost limit for {_SCHEMA}"
    return fieldpath.forbidden(path, detail)


def too_expensive_together(path: FieldPath, cost: int, limit: int) -> FieldError:
    """`cost` and `limit` of all rules of one version, in units of the CEL cost model."""
    what = f"x-kubernetes-validations estimated rule cost total for {_SCHEMA}"
    return fieldpath.forbidden(path, _exceeds(what, cost, limit))


def _exceeds(what: str, cost: int, limit: int) -> str:
    factor = cost / limit
    if factor > _LARGE_FACTOR:
        text = "more than 100x"
    elif factor < _SMALL_FACTOR:
        text = f"{factor:.6f}x"
    else:
        text = f"{factor:.1f}x"
    return f"{what} exceeds budget by factor of {text} {_ADVICE}"
