"""
Would other rows have chosen the same features?
===============================================

A list of selected features looks like a finding, but is often luck. ``selection_frequency`` refits
any selector on resampled rows and counts how often each feature is selected.
"""

# %%
# The breast cancer data of scikit-learn: 569 tumours and 30 measurements, many of them highly
# correlated.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from scoresieve import MeasureSVC, selection_frequency

tumours = load_breast_cancer()
X = StandardScaler().fit_transform(tumours.data)
y = tumours.target == 0  # malignant

# %%
# Five measurements, by ``MeasureSVC`` and by recursive elimination, on 30 bootstrap samples.
selectors = {
    "MeasureSVC": MeasureSVC("f1", n_features_to_select=5, certificate=False),
    "RFE": RFE(LinearSVC(dual=False), n_features_to_select=5),
}
frequencies = {
    name: selection_frequency(selector, X, y, n_resamples=30)
    for name, selector in selectors.items()
}

# %%
# A perfectly stable selection would have five features of frequency 1, and 0 for all others.
chosen = selectors["MeasureSVC"].fit(X, y).get_support()
order = np.argsort(-frequencies["MeasureSVC"], kind="stable")[:15]
figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
places = np.arange(order.size)
axes.barh(places - 0.2, frequencies["MeasureSVC"][order], 0.38, color="#0072b2", label="MeasureSVC")
axes.barh(places + 0.2, frequencies["RFE"][order], 0.38, color="#e69f00", label="RFE")
names = [f"{'● ' if chosen[j] else ''}{tumours.feature_names[j]}" for j in order]
axes.set_yticks(places, names)
axes.axvline(5 / 30, color="0.4", linestyle=":", label="by chance")
axes.set(xlabel="share of 30 samples in which it was selected (●: on all rows)", xlim=(0, 1))
axes.invert_yaxis()
axes.legend(loc="lower right")
plt.show()

# %%
# Correlated features share their frequency. Where that matters, put them into one group with
# ``feature_groups``, or report the group.
worst = np.corrcoef(X[:, order[:8]].T)
np.fill_diagonal(worst, 0)
one, other = np.unravel_index(np.argmax(np.abs(worst)), worst.shape)
print(
    f"most alike of the first eight: {tumours.feature_names[order[one]]} and "
    f"{tumours.feature_names[order[other]]}, correlation {worst[one, other]:.2f}"
)
