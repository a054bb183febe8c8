"""The libraries of addresses, prefixes and URLs."""
