"""Explanations as text with values under expressions, as JSON, and as a page that folds."""
