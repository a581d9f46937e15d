"""Storage: what of the input it served, how fast, and what held it back."""
