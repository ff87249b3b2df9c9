"""Which places are published: public lists and grids. Public arithmetic only."""
