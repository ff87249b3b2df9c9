"""Smoothing over the releases of successive periods: post-processing of published measurements, see docs/series.md."""
