"""`celadon eval`: variables from options, and values as text."""
