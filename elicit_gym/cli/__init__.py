"""The command line: the top of the package, and the only part that imports all others."""

__all__ = ["main"]


def main() -> None:
    """Run the command line; see `elicit_gym.cli.app.main`."""
    # Inside the function: a group's module is imported through this package, and must not pull in all the others.
    from elicit_gym.cli.app import main as run

    run()
