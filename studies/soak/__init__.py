"""Long runs that try to break the package: hostile files, hostile numbers, signals.

    python -m studies.soak models --cases 100000 --seed 0 --seconds 1800

Each program counts what its cases came to and ends with one line of JSON. A case is made from the
seed and its own number alone, so that a failure can be had again: ``--first NUMBER --cases 1``.
"""
