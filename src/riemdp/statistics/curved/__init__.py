"""Intrinsic means on curved spaces: solvers, and certificates of what they return."""
