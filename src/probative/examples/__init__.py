"""A twenty-line score file with its gold and probabilities, for the first minute with the command."""
