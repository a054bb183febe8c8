"""authz."""
