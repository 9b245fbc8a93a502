"""Pure functions on tensors: no Qt, no files, no state."""
