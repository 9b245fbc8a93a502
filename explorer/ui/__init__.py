"""The window, its controls, messages and export."""
