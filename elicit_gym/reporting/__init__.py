"""What every package renders with: pages, their style, tables in the terminal, progress bars."""
