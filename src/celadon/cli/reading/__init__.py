"""Files into documents: which files, which documents in them, where each thing stands.

Read in this order: `sources` (paths, folders, globs and standard input to texts), `documents`
(texts to documents, one format after another), then the formats: `json_text`, `yaml_blocks` (the
quick reader for everyday YAML), `yaml_events` (the complete one), `yaml_scalars` (what an unquoted
word means). `locations` finds the line of a field, and does so only when somebody asks. A file that
cannot be read becomes a `Problem`, never an exception that stops the other files.
"""
