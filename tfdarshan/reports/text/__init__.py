"""Words results: data in, text out, at most 100 columns wide."""
