"""Drawn programs that read by Grain's datasets."""
