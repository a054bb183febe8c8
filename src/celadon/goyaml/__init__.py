"""YAML as Kubernetes reads it: sigs.k8s.io/yaml, a fork of go-yaml v2 whose values become JSON.

Read `yaml_scalars` first (what an unquoted word means), then `yaml_events` (the complete reader,
from libyaml's events), `yaml_blocks` (the quick one for the style of everyday manifests) and
`yaml_documents` (the body of a request, with what an API server says about it, and the way
back; `yaml_blocks` loads it when it is needed). `yaml_scalars` also cuts a file into its
documents. Files, and where things stand in them, are the commands' (`cli/reading`).
"""

from celadon.goyaml.yaml_blocks import (
    BlockReader,
    UnusualError,
    first_document,
    read_yaml,
    yaml_text,
)
from celadon.goyaml.yaml_scalars import (
    MAX_DEPTH,
    NotJsonError,
    RepeatedKey,
    SeparatorError,
    UnreadableError,
    YamlDocument,
    check_depth,
    integer_or_double,
    strict_error,
    whole,
    yaml_parts,
)

__all__ = [
    "MAX_DEPTH",
    "BlockReader",
    "NotJsonError",
    "RepeatedKey",
    "SeparatorError",
    "UnreadableError",
    "UnusualError",
    "YamlDocument",
    "check_depth",
    "first_document",
    "integer_or_double",
    "read_yaml",
    "strict_error",
    "whole",
    "yaml_parts",
    "yaml_text",
]
