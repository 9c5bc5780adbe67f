"""Make episodes: one or many, in parallel, saved and resumed."""
