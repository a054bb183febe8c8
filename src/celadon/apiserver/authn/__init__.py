"""authn."""
