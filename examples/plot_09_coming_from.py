"""
Coming from SelectKBest, SelectFromModel, RFE
=============================================

The same number of words, chosen in four ways: by a univariate filter, by the weights of an l1-SVM,
by recursive elimination, and by the score itself. The first three also get a model and a tuned
threshold, because the threshold matters as much as the selection.
"""

# %%
# Docstrings again. One in twenty is from ``scipy.signal``, the positive class.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from scoresieve import ScoreSieve
from scoresieve.datasets import load_docstrings

docs = load_docstrings(target="scipy.signal", min_df=10)
X, y, X_test, y_test = docs.X[::2], docs.y[::2], docs.X[1::2], docs.y[1::2]


# %%
# What you may have today: a selector, a classifier on the selected words, and a tuned threshold.
def pipeline(selector):
    """The selector, a logistic regression, and the threshold that is best for F1."""
    model = make_pipeline(selector, LogisticRegression(C=30, max_iter=1000))
    return TunedThresholdClassifierCV(model, scoring="f1", cv=3)


today = {
    "SelectKBest, chi2": lambda k: pipeline(SelectKBest(chi2, k=k)),
    "SelectFromModel, l1-SVM": lambda k: pipeline(
        SelectFromModel(LinearSVC(penalty="l1", dual=False), max_features=k, threshold=-np.inf)
    ),
    "RFE, linear SVM": lambda k: pipeline(RFE(LinearSVC(), n_features_to_select=k, step=0.5)),
}

# %%
# What replaces all of it: selection, model and threshold chosen together, by cross-validated F1.
models = {**today, "ScoreSieve": lambda k: ScoreSieve("f1", n_features_to_select=k, cv=3)}

# %%
sizes = [2, 5, 20]
scores = {
    name: [f1_score(y_test, make(k).fit(X, y).predict(X_test)) for k in sizes]
    for name, make in models.items()
}
print("words".ljust(24), *(f"{k:6d}" for k in sizes))
for name, values in scores.items():
    print(name.ljust(24), *(f"{value:6.3f}" for value in values))

# %%
# Differences are a few points, and they change with the data and the number of words; with more
# words they vanish. You also gain one object instead of a pipeline, its cross-validated score, and
# exactly k words.
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
looks = ["s:", "^--", "v-.", "o-"]
colours = ["0.5", "#d55e00", "#e69f00", "#0072b2"]
for (name, values), look, colour in zip(scores.items(), looks, colours, strict=True):
    axes.plot(sizes, values, look, color=colour, label=name)
axes.set(xlabel="words", ylabel="F1 on held-out documents", xscale="log")
axes.set_xticks(sizes, sizes)
axes.minorticks_off()
axes.legend(loc="lower right")
plt.show()
