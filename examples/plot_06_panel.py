"""
A panel of exactly eight, with some seats taken
===============================================

A test kit has room for eight genes. Two controls must be on it, one gene is patented by a
competitor, and genes of one probe are measured together or not at all. The selection takes all of
this into account; nothing is repaired by hand afterwards.
"""

# %%
# A synthetic expression table with names: 240 patients, 60 genes, one patient in four responds.
# Genes in pairs such as ``G04a`` and ``G04b`` sit on one probe.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from scoresieve import MeasureSVC

rng = np.random.default_rng(5)
names = [f"G{number:02d}{probe}" for number in range(30) for probe in "ab"]
signal = rng.normal(size=(240, 5))
genes = rng.normal(size=(240, 60))
genes[:, 8:18] += 1.2 * np.repeat(signal, 2, axis=1)
X = pd.DataFrame(genes, columns=names)
y = np.where(signal.sum(axis=1) + 0.8 * rng.normal(size=240) > 1.6, "responds", "does not")

# %%
# ``always_features`` are not part of the number to select: a panel of eight with two controls
# selects six. With groups, the number counts groups: three probes of two genes.
controls, patented = ["G00a", "G00b"], ["G06a", "G06b"]
probes = [[f"G{number:02d}a", f"G{number:02d}b"] for number in range(30)]
settings = {"measure": "balanced_accuracy", "pos_label": "responds"}
panels = {
    "six genes, free choice": MeasureSVC(n_features_to_select=6, **settings),
    "with controls": MeasureSVC(n_features_to_select=6, always_features=controls, **settings),
    "without the patented probe": MeasureSVC(
        n_features_to_select=6, always_features=controls, excluded_features=patented, **settings
    ),
    "whole probes": MeasureSVC(
        n_features_to_select=3,
        always_features=controls,
        excluded_features=patented,
        feature_groups=[probe for probe in probes if probe not in (controls, patented)],
        **settings,
    ),
}

# %%
# The objective (lower is better) shows the cost of each rule. The bound holds for every panel under
# the same rules. With 240 noisy rows it is far below the objective: a better panel is unlikely, but
# not ruled out.
for name, model in panels.items():
    model.fit(X, y)
    print(
        f"{name:28s} {len(model.get_feature_names_out())} genes, objective "
        f"{model.primal_[0]:.1f}, at least {model.dual_[0]:.1f} for all such panels"
    )

# %%
shown = sorted(set().union(*(model.get_feature_names_out() for model in panels.values())))
weights = np.array(
    [pd.Series(model.coef_[0], index=names)[shown].to_numpy() for model in panels.values()]
)
selected = np.array([np.isin(shown, model.get_feature_names_out()) for model in panels.values()])
figure, axes = plt.subplots(figsize=(9.5, 3.2), layout="constrained")
limit = np.abs(weights).max()
image = axes.imshow(
    np.where(selected, weights, np.nan), cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto"
)
for row, column in np.argwhere(selected):
    kind = "C" if shown[column] in controls else ""
    axes.text(column, row, kind, ha="center", va="center")
axes.set_yticks(range(len(panels)), panels)
axes.set_xticks(range(len(shown)), shown, rotation=90)
axes.set_title("weights of the selected genes (C: a control)")
axes.set_xticks(np.arange(-0.5, len(shown)), minor=True)
axes.set_yticks(np.arange(-0.5, len(panels)), minor=True)
axes.grid(which="minor", color="0.9")
axes.tick_params(which="minor", length=0)
figure.colorbar(image, label="weight")
plt.show()
