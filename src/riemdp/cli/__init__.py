"""Command line."""

from riemdp.cli._app import app, main

__all__ = ["app", "main"]
