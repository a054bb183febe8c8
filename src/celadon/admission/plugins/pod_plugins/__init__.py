"""What plugins have to say about pods, and about the objects that pods refer to."""
