"""Jobs that are slow for a known cause, and healthy ones: what the findings are held against."""
