"""What the expressions of a policy read, and what they have made sure of at that point."""
