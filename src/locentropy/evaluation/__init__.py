"""For owners of data and researchers, never for publication."""
