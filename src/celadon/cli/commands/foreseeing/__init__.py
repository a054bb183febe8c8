"""Commands that tell what policies would do to a whole cluster."""
