"""Pictures and numbers as bytes: PNG, SVG, PDF, CSV and JSON."""
