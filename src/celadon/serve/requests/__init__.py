"""What a request asks for: its path, the options of reads in its query, the form it accepts."""
