"""What policies say to the windows of real interviews, measured: the paper's Tables 6, 7 and 8."""
