"""What a terminal shows beside results."""
