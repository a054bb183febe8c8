"""Selectors: labels and fields that choose among objects."""

from celadon.kube.selection.field_labels import resolve_fields
from celadon.kube.selection.field_selectors import FieldSelector, FieldTerm, parse_field_selector
from celadon.kube.selection.label_selectors import (
    LabelSelector,
    Operator,
    Requirement,
    SelectorError,
    label_selector,
)
from celadon.kube.selection.selector_text import parse_label_selector

__all__ = [
    "FieldSelector",
    "FieldTerm",
    "LabelSelector",
    "Operator",
    "Requirement",
    "SelectorError",
    "label_selector",
    "parse_field_selector",
    "parse_label_selector",
    "resolve_fields",
]
