"""Figures of one style: legible at column width, in colours that differ for everyone, and never by colour alone."""
