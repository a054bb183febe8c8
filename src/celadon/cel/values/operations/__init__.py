"""What the operators do: equality and order, arithmetic, and reading lists and maps."""
