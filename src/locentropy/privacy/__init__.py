"""What makes a release private: sensitivities, noise, selection, guarantees. Independent of tables and engines."""
