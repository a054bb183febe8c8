"""Patterns as trees: RE2's syntax read with Go's errors, and the character sets it names."""
