"""The headless verbs, one file each: `add_arguments(parser)` and `run(args)`."""
