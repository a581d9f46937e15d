"""What recording costs: `make bench`, or `python -m tests.perf`. Measures and prints; asserts nothing."""
