"""`celadon lsp`: what editors ask about CEL in YAML, and the answers, as plain values.

Read `text_positions` (editors count in UTF-16), `workspace_files` (the files as they are on disk or
in an editor, linted together), `expression_spots` (from a position in a file to one in an
expression; what stands before it, however incomplete, `cel.unfinished` knows), then what is
answered: `completions`, `hovers`, `signature_help`, `variable_names` (definition, references,
rename), `code_actions`, `margin_notes` (costs, and the tests of a policy), `function_docs`.
Nothing here speaks the protocol: `lsp_adapter` does, on top of pygls.
"""
