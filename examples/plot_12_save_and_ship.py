"""
From a fit to a file that others can use
========================================

A selected model is small: a few names and numbers. Save it to a file of plain data, turn it into a
linear model of scikit-learn, or print a table to type into another program.
"""

# %%
# A model of six measurements, with names from a DataFrame.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from scoresieve import MeasureSVC, load

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = (X - X.mean()) / X.std()
model = MeasureSVC("f1", n_features_to_select=6, pos_label=0).fit(X, y)

# %%
# ``save`` writes plain numbers and text. ``load`` runs no code from the file, refuses damaged
# files, and gives bit-identical predictions. Compare the sizes with that of the data.
folder = Path(tempfile.mkdtemp())
model.save(folder / "model.scoresieve")
model.save(folder / "with_proof.scoresieve", with_certificate=True)
same = load(folder / "model.scoresieve")
assert np.array_equal(same.decision_function(X), model.decision_function(X))
sizes = {path.stem: path.stat().st_size for path in sorted(folder.iterdir())}
print(sizes, "bytes; the data:", X.to_numpy().nbytes)

# %%
# With the certificate in the file, anybody who has the data can check it years later.
print(load(folder / "with_proof.scoresieve").certify(X, y))

# %%
# For users without scoresieve: a fitted ``LinearSVC``, which skl2onnx and others convert.
linear = model.to_linear_svc()
assert np.array_equal(linear.predict(X), model.predict(X))

# %%
# Or a table, which is the whole model: predict positive if the weighted sum is above 0.
table = pd.Series(model.coef_[0], index=X.columns)[model.get_feature_names_out()]
table["intercept"] = model.intercept_[0]
print(table.round(3).to_string())

# %%
# ``transform`` keeps the selected columns with their names, for other models. Here are the two with
# the largest weights.
pair = table.drop("intercept").abs().nlargest(2).index
kept = model.set_output(transform="pandas").transform(X)[pair]
figure, axes = plt.subplots(figsize=(6.5, 4.4), layout="constrained")
for label, name, colour in ((1, "benign", "#e69f00"), (0, "malignant", "#0072b2")):
    rows = kept[y == label]
    axes.scatter(rows.iloc[:, 0], rows.iloc[:, 1], s=12, color=colour, label=name)
axes.set(xlabel=f"{pair[0]} (standardised)", ylabel=f"{pair[1]} (standardised)")
axes.legend()
plt.show()
