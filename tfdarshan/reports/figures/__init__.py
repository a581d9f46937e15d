"""Plotly figures as plain data: tables in, {"data", "layout"} out, for the report and the tab alike."""
