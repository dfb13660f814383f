"""
A fixed number of alarms a day
==============================

A fraud team can check 50 cases a day. The score that counts is how many of these 50 are fraud:
precision at 50. The ranking of the rest is of no use to the team, and neither is accuracy.
"""

# %%
# Synthetic payments: 10,000 training and 20,000 test rows, 40 columns, and one payment in a hundred
# is fraud. There are two kinds of fraud: the common one is hidden in noise, the rare one shows
# clearly in two columns. The data make a point: the objective matters where the first alarms need
# other weights than the rest. With one kind of fraud, both models are about equal.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from scoresieve import MeasureSVC, get_measure


def payments(n_rows, seed):
    """Fraud of two kinds: 0.7 % shifts eight columns a little, 0.3 % shifts two columns much."""
    rng = np.random.default_rng(seed)
    X, kind = rng.normal(size=(n_rows, 40)), rng.random(n_rows)
    X[kind < 0.007, :8] += 0.6
    X[(kind >= 0.007) & (kind < 0.010), 8:10] += 2.6
    return X, np.where(kind < 0.010, 1, 0)


X, y = payments(10_000, seed=0)
X_test, y_test = payments(20_000, seed=1)

# %%
# Both models get four columns. ``"prec@50"`` is the precision of the 50 highest scores.
top_50 = MeasureSVC("prec@50", n_features_to_select=4).fit(X, y)
usual = make_pipeline(SelectKBest(f_classif, k=4), LogisticRegression(class_weight="balanced"))
usual.fit(X, y)
decisions = {
    "trained for the 50 highest": top_50.decision_function(X_test),
    "F test, logistic regression": usual.decision_function(X_test),
}
print("columns for the 50 highest:", top_50.get_support(indices=True))
print("columns of the F test:     ", np.flatnonzero(usual[0].get_support()))

# %%
# A measure can score any decisions. Ties count with their average.
measure = get_measure("prec@50")
for name, decision in decisions.items():
    print(f"{name}: {50 * measure.score(2.0 * y_test - 1, decision):.0f} of 50 alarms are fraud")

# %%
# The columns are nearly the same, but the weights are not: one model serves all kinds of fraud, the
# other the kind that the first 50 alarms can contain.
figure, axes = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
for (name, decision), colour in zip(decisions.items(), ("#0072b2", "#d55e00"), strict=True):
    hits = np.cumsum(y_test[np.argsort(-decision, kind="stable")])
    axes.plot(np.arange(1, 401), hits[:400], color=colour, label=name)
axes.axvline(50, color="0.4", linestyle="--", label="capacity: 50 alarms")
axes.set(xlabel="alarms, highest scores first", ylabel="frauds found", xlim=(0, 400), ylim=0)
axes.legend(loc="lower right")
plt.show()
