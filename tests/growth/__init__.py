"""What grows faster than what was sent: objects of N, 2N and 4N parts, and what they take."""
