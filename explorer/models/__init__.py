"""From a file or a recipe to captured attention heads."""
