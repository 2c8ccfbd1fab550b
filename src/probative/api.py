"""The Python entry points that mirror the commands."""
