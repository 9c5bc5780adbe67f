"""Measure what policies say to the windows of real interviews, as in the paper's Tables 6, 7 and 8."""
