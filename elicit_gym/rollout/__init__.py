"""Make episodes: one, many, in parallel, saved and resumed."""
