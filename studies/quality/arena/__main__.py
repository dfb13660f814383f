"""``python -m studies.quality.arena``."""

from studies.quality.arena.cli import run

if __name__ == "__main__":
    run()
