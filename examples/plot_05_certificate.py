"""
What a certificate means
========================

Which three of ten columns are best? A certificate bounds the objective of all 120 choices from
below, without trying them. Here we can try them all, and see that none is below the bound.
"""

# %%
# 300 rows with correlated columns, so that several choices are good. The label depends on three
# columns and noise.
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from scoresieve import MeasureSVC, solve

rng = np.random.default_rng(0)
common = rng.normal(size=(300, 1))
X = 0.6 * common + rng.normal(size=(300, 10))
y = X[:, :3] @ [1.0, 0.8, 0.6] + rng.normal(size=300) > 1.8

# %%
# The fit searches, then certifies: ``primal_`` is the objective of its model, ``dual_`` a lower
# bound for all models with three columns.
model = MeasureSVC("f1", n_features_to_select=3, tol=0.001).fit(X, y)
print(f"columns {model.get_support(indices=True)}, objective {model.primal_[0]:.2f}")
print(f"lower bound for all choices of three columns: {model.dual_[0]:.2f}")
print(f"so at most {model.l0_gap_[0]:.1%} could be gained by any other choice")

# %%
# The bound does not depend on the search: ``certify`` recomputes both numbers from the data, the
# model and the labellings behind the bound.
print(model.certify(X, y))

# %%
# Now all choices. ``solve`` is the function behind the estimator. With a budget of three out of
# three columns there is nothing to choose, and the rest of the problem is the same.
problem = {"measure": "f1", "price": model.price_[0], "C": 3.0, "intercept_scaling": 1.0}
choices = list(combinations(range(10), 3))
objectives = [
    solve(X[:, choice], y.astype(int), budget=3, tol=0.01, **problem).primal for choice in choices
]
objectives = np.array(objectives)
print(f"best of all {len(choices)}: {choices[int(np.argmin(objectives))]}, {objectives.min():.2f}")

# %%
# Each choice is a dot. The shaded part cannot contain any: that is certified. That the model is the
# best one is true here but not certified: another could have been between the bound and the model.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
bound, ours = model.dual_[0], model.primal_[0]
axes.axvspan(0.6 * bound, bound, color="0.88")
axes.axvline(bound, color="black")
axes.plot(objectives, rng.uniform(0.05, 0.8, objectives.size), ".", color="0.55", markersize=6)
axes.plot(ours, 0.42, "*", color="#d55e00", markersize=18)
axes.annotate("no choice of three\ncolumns is here", (0.8 * bound, 0.45), ha="center", va="center")
axes.annotate("certified bound", (bound, 0.92), (6, 0), textcoords="offset points", va="center")
axes.annotate("the model", (ours, 0.42), (0, 14), textcoords="offset points", color="#d55e00")
axes.annotate("", (ours, 0.86), (bound, 0.86), arrowprops={"arrowstyle": "<->"})
axes.annotate(f"  gap {model.l0_gap_[0]:.1%}", (ours, 0.86), va="center")
axes.set(xlabel="objective of the best model of a choice", yticks=[], ylim=(0, 1))
axes.set_xlim(0.6 * bound, 1.02 * objectives.max())
plt.show()
