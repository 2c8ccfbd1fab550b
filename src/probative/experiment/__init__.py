"""Folds times pipeline: run folders, ablation, tuning, poisoning."""
