"""Reports of `celadon audit` and `celadon replay` as text."""
