"""Certificates and private keys, as far as it must be known whether they belong together."""
