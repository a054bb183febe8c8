"""`authorizer` in expressions: the request's user, asking the world's authorizer."""
