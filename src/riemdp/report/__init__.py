"""A release as a page for people: what was released, under which guarantee, on what assumptions."""

from riemdp.report._report import html

__all__ = ["html"]
