"""What exists, against policies that do not."""
