"""Commands that the laboratory adds to `locentropy`."""
