"""`celadon eval`: variables from options."""
