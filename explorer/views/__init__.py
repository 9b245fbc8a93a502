"""The pictures: each draws a result and marks what is selected."""
