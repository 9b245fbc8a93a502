"""The evidence report: every measure of every head against its nulls, headless; no Qt."""
