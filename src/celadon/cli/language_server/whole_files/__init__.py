"""What is told of a file as a whole: its outline, and what stands in its margin."""
