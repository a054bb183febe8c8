"""Files into documents: which files, which documents in them, where each thing stands.

Read in this order: `documents` (paths, folders, globs and standard input to texts, these to
documents, one format after another), `json_text`; YAML is read by `celadon.goyaml`. `locations`
finds the line of a field, and does so only when somebody asks. A file that cannot be read becomes a
`Problem`, never an exception that stops the other files.
"""

from celadon.cli.reading.documents import Problem, read_documents

__all__ = ["Problem", "read_documents"]
