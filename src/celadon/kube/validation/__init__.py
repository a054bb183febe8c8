"""Validation of the built-in kinds: why an API server would refuse an object with 422.

One module per area of the API. A rule is a generator of `FieldError`s over a plain JSON object that
has been decoded and defaulted (`defaulting.admit_form`), so values have the types of their fields.
Texts, paths and order are those of Kubernetes 1.36. Read `kinds` first: the table of what is
validated how; then `fields` for the small checks that all others are made of.
"""
