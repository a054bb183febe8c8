"""Reading any YAML and writing it, loaded with the first text that needs it.

PyYAML takes as long to load as the quick reader takes for hundreds of everyday manifests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celadon.goyaml.yaml_scalars import RepeatedKey, YamlDocument


def read_yaml(text: str, repeated: list[RepeatedKey] | None = None) -> Iterator[tuple[int, Any]]:
    """The documents of a text, each with the line (from 1) where it begins.

    Raises `UnreadableError`, after the documents before the faulty one were given out; a key that
    is given twice is a fault, too, unless there is a list that takes note of it.
    """
    from celadon.goyaml import yaml_events  # late: see above

    return yaml_events.read_yaml(text, repeated)


def first_document(data: bytes) -> YamlDocument:
    """Read a body as an API server does. Raises `UnreadableError`, whose `upstream` is the text for
    clients."""
    from celadon.goyaml import yaml_documents  # late: see above

    return yaml_documents.first_document(data)


def yaml_text(value: Any) -> str:
    """A JSON value as sigs.k8s.io/yaml writes it."""
    # late: see above
    from celadon.goyaml import yaml_documents as yaml_writer

    return yaml_writer.yaml_text(value)
