"""Trees made to run: by a method of `str`, by Python's `re` where that is safe, by automata."""
