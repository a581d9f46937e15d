"""Questions answered part by part: partials that merge, and what runs the parts: here or on a cluster."""
