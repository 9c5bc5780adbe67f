"""Ratings by people: blinded tasks, forms for them, and the paper's Table 9 from the answers."""
