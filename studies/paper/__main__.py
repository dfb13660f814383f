"""``python -m studies.paper NAME --data FOLDER [--quick] [--out FOLDER] [--jobs 2]``."""

from __future__ import annotations

import os
import signal
import sys

# Before numpy is imported: the work is spread over processes, and one thread a process is faster.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

if __name__ == "__main__":
    from studies.paper.cli import main

    # A stopped run ends its processes instead of leaving them behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
