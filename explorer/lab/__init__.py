"""The attention-based PCA laboratory without its window: settings, prompts, training and sweeps."""
