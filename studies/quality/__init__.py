"""Scores on held-out data: which settings serve as defaults, how models stand beside rivals.

``python -m studies.quality.NAME --data FOLDER``; ``--quick`` for a first look.
"""
