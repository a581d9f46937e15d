"""PyTorch: jobs whose batches come from a DataLoader."""
