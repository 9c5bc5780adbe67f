"""Who ticks the checklist."""
