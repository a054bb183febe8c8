"""Policies to start from: `policies` has a folder for each, `shelf` reads and copies them."""
