"""One script per published number."""
