"""Studies of the package on real data: the paper's experiments, times, and scores.

``python -m studies.paper NAME --data FOLDER`` reruns the paper's experiments, ``python -m
studies.speed.NAME`` compares times, ``python -m studies.quality.NAME`` compares scores. What they
share is in ``studies.common``. Nothing here is installed with the package.
"""
