"""One job that runs for hours, and its tests."""
