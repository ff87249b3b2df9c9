"""Compare mechanisms and give advice: for owners of data and researchers, never for publication."""
