"""Walks over values and the types by which server-side apply sees them."""
