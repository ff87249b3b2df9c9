"""What makes a release safe: sensitivities, noise, selection, guarantees. Knows nothing of tables or engines."""
