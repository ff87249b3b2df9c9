"""The public page of a release: one file that needs nothing else, made from published numbers alone."""
