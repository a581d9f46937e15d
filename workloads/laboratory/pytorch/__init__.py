"""Drawn programs that read by PyTorch's DataLoader."""
