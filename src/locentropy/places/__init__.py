"""The places that are published: public lists and grids. Nothing here depends on the visits."""
