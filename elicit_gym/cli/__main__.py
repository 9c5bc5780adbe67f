"""``python -m elicit_gym.cli``."""

from elicit_gym.cli import main

main()
