"""``python -m scoresieve.cli`` is ``scoresieve``."""

from scoresieve.cli.app import main

if __name__ == "__main__":
    main()
