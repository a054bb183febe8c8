"""`celadon lsp`: what editors ask about CEL in YAML, and the answers, as plain values.

Read `workspace_files` (the files as they are on disk or in an editor, linted together), then what
is answered: `completions` (what stands before a place, however incomplete, `cel.completion` knows),
`hovers`. Editors count positions in UTF-16. Nothing here speaks the protocol: `lsp_adapter` does,
on top of pygls.
"""
