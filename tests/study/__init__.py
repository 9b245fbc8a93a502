"""Studies: plan, answers, numbers and files."""
