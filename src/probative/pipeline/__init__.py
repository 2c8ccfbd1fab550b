"""The composed system: cross-fitting, fit and predict, the model folder, screening."""
