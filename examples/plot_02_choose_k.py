"""
How many features? As few as one standard error allows
======================================================

More features seldom hurt the score on held-out rows, but past some number they hardly help. The
one-standard-error rule tells where to stop: take the smallest number whose cross-validated score is
within one standard error of the best.
"""

# %%
# 600 rows and 100 columns, of which seven matter. One row in five is positive.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from scoresieve import ScoreSieve

X, y = make_classification(
    600,
    100,
    n_informative=7,
    n_redundant=0,
    weights=[0.8],
    flip_y=0.02,
    class_sep=1.3,
    shuffle=False,
    random_state=4,
)

# %%
# ``ScoreSieve`` takes a list of numbers to choose from. For each it tries several ways to select
# columns and several models on them, all by cross-validation.
sizes = [1, 2, 3, 4, 5, 7, 10, 20]
model = ScoreSieve("f1", n_features_to_select=sizes).fit(X, y)
print(model.summary())

# %%
# ``cv_results_`` has a row for each number and setting. The best setting of each number is drawn.
table = model.cv_results_
numbers = np.array([params["n_features_to_select"] for params in table["params"]])
scores, errors = np.array(table["mean_test_score"]), np.array(table["std_test_score"])
best_rows = [np.flatnonzero(numbers == k)[np.argmax(scores[numbers == k])] for k in sizes]
curve, spread = scores[best_rows], errors[best_rows]
top = int(np.argmax(curve))
chosen = model.best_params_["n_features_to_select"]

# %%
figure, axes = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
axes.axhspan(
    curve[top] - spread[top], curve[top], color="#0072b2", alpha=0.12, label="one standard error"
)
axes.errorbar(
    sizes, curve, spread, marker="o", color="#0072b2", capsize=3, label="best of each number"
)
axes.axvline(chosen, color="#d55e00", linestyle="--", label=f"chosen: {chosen}")
axes.plot(sizes[top], curve[top], "*", color="#d55e00", markersize=15, label="highest score")
axes.set(
    xscale="log",
    xlabel="features",
    ylabel="cross-validated F1",
    title="The smallest within one error",
)
axes.set_xticks(sizes, sizes)
axes.minorticks_off()
axes.legend(loc="lower right")
plt.show()

# %%
# The first seven columns matter, and all chosen ones are among them. The rule drops the others,
# because 600 rows are too few to show what each adds. ``n_features_to_select=7`` selects seven
# without the rule.
print("chosen columns:", model.get_support(indices=True))
