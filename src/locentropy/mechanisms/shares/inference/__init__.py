"""From noisy answers to entropies: post-processing, which sees no data and costs no privacy."""
