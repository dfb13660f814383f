"""``python -m studies.soak``."""

import sys

from studies.soak.cli import main

if __name__ == "__main__":
    sys.exit(main())
