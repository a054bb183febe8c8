"""Libraries about lists, sets, optional values and two-variable comprehensions."""
