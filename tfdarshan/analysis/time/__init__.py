"""What was done when, and how long it took, for figures over time."""
