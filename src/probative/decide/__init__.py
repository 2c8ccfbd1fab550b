"""Calibration, thresholds, dynamic K and triage, usable alone on anyone's scores."""
