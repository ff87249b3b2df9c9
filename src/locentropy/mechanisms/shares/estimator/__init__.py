"""From noisy measurements to entropies: post-processing, which costs no privacy."""
