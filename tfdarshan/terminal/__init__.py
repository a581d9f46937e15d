"""What a terminal shows: columns of text, and how far long work is."""
