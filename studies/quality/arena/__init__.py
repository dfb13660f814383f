"""The arena: exactly k features, our models beside the usual ones, under the same rules for all.

Run ``python -m studies.quality.arena --data FOLDER --state FILE --jobs 2``. A task is one class of
a data set against the rest; a cell is a task with k features. Every method selects exactly k
columns (fewer only where fewer have a weight), on all training rows and on five times four fifths
of them. Everything else is chosen by the scores of rows that were not seen: C of the selection, the
threshold, and the common refit on the columns (logistic or squared hinge, plain or balanced, its
C). ``own`` is the selector's own model with a threshold chosen the same way. Nothing sees test rows
but the measures. Models that tune themselves do all of this inside ``fit``.

The files: ``sets`` and ``known_support`` (data), ``picks``, ``filters``, ``outsiders``, ``ours``
and ``methods`` (who selects), ``refits`` and ``crossfit`` (the rules), ``cells`` and ``stability``
(pieces of work), ``board``, ``statistics``, ``claims``, ``report``, ``side_tables``, ``figure``
(what is shown).
"""

from studies.quality.arena.cli import main

__all__ = ["main"]
