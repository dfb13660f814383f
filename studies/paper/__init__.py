"""The experiments of the paper (Mao and Tsang, IEEE TPAMI 2013), and one that it misses.

``python -m studies.paper NAME --data FOLDER`` reruns one of them, ``python -m studies.paper all``
every one. Each writes raw results, tables, figures and its part of one page of claims and verdicts.
"""
