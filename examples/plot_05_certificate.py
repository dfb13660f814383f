"""
What a certificate says
=======================

Which three of ten columns are best? Here all 120 choices can be tried, which shows what the
certificate claims without trying them: no choice of three columns has an objective below the bound.
"""

# %%
# 300 rows with correlated columns, so that several choices are good ones. Three columns make the
# label, with noise.
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from scoresieve import MeasureSVC, solve

rng = np.random.default_rng(0)
common = rng.normal(size=(300, 1))
X = 0.6 * common + rng.normal(size=(300, 10))
y = X[:, :3] @ [1.0, 0.8, 0.6] + rng.normal(size=300) > 1.8

# %%
# The fit searches, and then proves: ``primal_`` is the objective of its model, ``dual_`` a number
# that no model with three columns can be below.
model = MeasureSVC("f1", n_features_to_select=3, tol=0.001).fit(X, y)
print(f"columns {model.get_support(indices=True)}, objective {model.primal_[0]:.2f}")
print(f"lower bound for all choices of three columns: {model.dual_[0]:.2f}")
print(f"so at most {model.l0_gap_[0]:.1%} could be gained by any other choice")

# %%
# The proof needs no trust in the search. ``certify`` computes both numbers from the data, the model
# and the labellings that make up the bound.
print(model.certify(X, y))

# %%
# Now all choices. ``solve`` is the function behind the estimator; a budget of three columns out of
# three leaves nothing to choose, and the rest of the problem is that of the model above.
problem = {"measure": "f1", "price": model.price_[0], "C": 3.0, "intercept_scaling": 1.0}
choices = list(combinations(range(10), 3))
objectives = [
    solve(X[:, choice], y.astype(int), budget=3, tol=0.01, **problem).primal for choice in choices
]
objectives = np.array(objectives)
print(f"best of all {len(choices)}: {choices[int(np.argmin(objectives))]}, {objectives.min():.2f}")

# %%
# Each choice is a dot. The shaded part cannot hold any: that is certified. That the model *is* the
# best one is not certified, though it is; between the bound and the model there could have been
# another.
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
