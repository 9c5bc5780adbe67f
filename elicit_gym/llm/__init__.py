"""The only door to a model that writes text: everything that calls one goes through here, and nothing else does."""
