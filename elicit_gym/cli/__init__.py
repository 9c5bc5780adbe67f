"""The command line: the roof of the package, which alone imports all of it."""

__all__ = ["main"]


def main() -> None:
    """Run the command line, see `elicit_gym.cli.app.main`."""
    # Inside the function: a group's module is imported through this package, and must not pull in all the others.
    from elicit_gym.cli.app import main as run

    run()
