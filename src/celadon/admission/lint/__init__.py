"""Linting of policies and bindings: pure rules over decoded and compiled documents.

`lint(documents, settings)` in `linter` is the whole of it. Read `findings` (what comes out), then
`subjects` (what rules look at), `flow` (what an expression reads, and what it has made sure of
before), then any family of rules; `table` has all rules in the order of their codes.
"""
