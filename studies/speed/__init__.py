"""Times of the solvers beside those of others, one run on one machine for each comparison.

``python -m studies.speed.NAME --data FOLDER``; ``--quick`` for a first look.
"""
