"""Training steps: what they waited for, and what the input pipeline and writes did meanwhile."""
