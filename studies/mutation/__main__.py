"""``python -m studies.mutation``."""

import sys

from studies.mutation.cli import main

if __name__ == "__main__":
    sys.exit(main())
