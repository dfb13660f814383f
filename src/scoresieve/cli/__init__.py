"""The command ``scoresieve``.

Modules here load nothing slow, so that ``scoresieve --help`` answers at once;
each command imports what it needs when it runs.
"""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line and exit with its code."""
    if find_spec("click") is None:
        sys.stderr.write(
            'scoresieve: error: the package click is missing; pip install "scoresieve[cli]"\n'
        )
        sys.exit(2)
    from scoresieve.cli.app import main as run_and_exit

    run_and_exit()
