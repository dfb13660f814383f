"""``python -m studies.quality.fresh``."""

from studies.common.options import start
from studies.quality.fresh import main

if __name__ == "__main__":
    start(main)
