"""
Each class has its own features
===============================

With more than two classes, or with several labels for each row, each class against the rest gets
its own model with its own few columns. ``supports_`` lists them for each class; ``support_`` is
their union.
"""

# %%
# Handwritten digits, 8 x 8 pixels. At most six pixels for each digit.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from scoresieve import MeasureSVC

images = load_digits()
X, X_test, y, y_test = train_test_split(
    images.data / 16.0, images.target, test_size=0.5, stratify=images.target, random_state=0
)
model = MeasureSVC("f1", n_features_to_select=6, certificate=False).fit(X, y)

# %%
# ``predict`` takes the digit with the largest decision. ``score`` is the mean, over the digits, of
# F1 (the measure trained for) of these predictions: macro F1.
print("pixels that any digit needs:", model.n_features_selected_, "of", X.shape[1])
print(f"macro F1: {model.score(X_test, y_test):.2f}")
print(f"share of digits that are read right: {np.mean(model.predict(X_test) == y_test):.2f}")

# %%
# The mean image of each digit in grey. Ink in a blue pixel is evidence for the digit, in an orange
# one against it; larger squares have larger weights.
figure, grid = plt.subplots(2, 5, figsize=(9.5, 4.3), layout="constrained")
for digit, axes in enumerate(grid.flat):
    axes.imshow(X[y == digit].mean(axis=0).reshape(8, 8), cmap="Greys", vmax=1.8)
    chosen, weights = model.supports_[digit], model.coef_[digit]
    sizes = 120 * np.sqrt(np.abs(weights[chosen]) / np.abs(weights).max())
    colours = np.where(weights[chosen] > 0, "#0072b2", "#d55e00")
    axes.scatter(chosen % 8, chosen // 8, s=sizes, c=colours, marker="s", edgecolor="white")
    axes.set(xticks=[], yticks=[], title=str(digit))
plt.show()

# %%
# As a selector for other models, ``transform`` keeps the union. With
# ``multi_class_support="intersection"`` it keeps the pixels common to all digits.
print("shape for another model:", model.transform(X).shape)
