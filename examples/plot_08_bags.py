"""
Which conformer makes a molecule active?
========================================

A molecule takes many shapes (conformers), and it is active if one of them fits the binding site.
Only the molecule has a label: it is a bag, and its conformers are instances. The model selects a
few training conformers; they show which conformer of a new molecule decides.
"""

# %%
# Synthetic molecules of 4 to 14 conformers around a shape of their own; one in four is active. The
# site wants a donor 2.9 Å from the acceptor and 5.2 Å from the ring.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from scoresieve.baselines import MeanInstanceSVM
from scoresieve.mil import Bags, BagScoreSieve
from scoresieve.plotting import InstanceContributionsDisplay

SITE = np.array([2.9, 5.2])
LOW, HIGH = [3.0, 4.0, 3.0, 20.0], [8.0, 9.0, 8.0, 70.0]
rng = np.random.default_rng(0)
active = np.arange(240) % 4 == 0
molecules = []
for is_active in active:
    # Three distances and the bend of the ring, around a shape that is the molecule's own.
    shapes = rng.uniform(LOW, HIGH) + rng.normal(size=(rng.integers(5, 15), 4)) * [1.2, 1.2, 1, 12]
    shapes = shapes[np.linalg.norm(shapes[:, :2] - SITE, axis=1) > 0.8]
    if is_active:
        fitting = [*(SITE + 0.15 * rng.normal(size=2)), *rng.uniform(LOW[2:], HIGH[2:])]
        shapes = np.vstack([shapes, fitting])
    molecules.append(rng.permutation(shapes))
groups = np.repeat([f"M{number:03d}" for number in range(240)], [len(m) for m in molecules])
bags = Bags.from_groups(np.concatenate(molecules), groups)
train, test, y, y_test = train_test_split(
    bags, active, test_size=0.4, random_state=0, stratify=active
)
scaler = StandardScaler().fit(train.instances)
train, test = (
    Bags(scaler.transform(part.instances), part.offsets, part.names) for part in (train, test)
)

# %%
# Select three conformers. F1 chooses the width of the similarity and the model. The baseline is a
# linear SVM on the mean conformer, which cannot tell single conformers apart.
model = BagScoreSieve("f1", n_instances_to_select=3, cv=3).fit(train, y)
mean = MeanInstanceSVM(class_weight="balanced", max_iter=20_000).fit(train, y)
for name, fitted in (("few conformers", model), ("mean conformer", mean)):
    print(f"{name}: F1 of new molecules {f1_score(y_test, fitted.predict(test)):.2f}")
for key in model.key_instances_:
    shape = scaler.inverse_transform(key.vector[np.newaxis])[0]
    name = f"conformer {key.position} of {key.name}"
    print(f"{name}: weight {key.weight:+.2f}, {shape[0]:.1f} and {shape[1]:.1f} Å")

# %%
# Left: all training conformers, and the selected ones. Right: the contributions of the conformers
# of a new molecule; with the intercept they sum to the decision.
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
shapes, of_active = scaler.inverse_transform(train.instances)[:, :2], np.repeat(y, train.sizes)
left.scatter(*shapes[~of_active].T, s=7, color="0.75", label="of inactive molecules")
left.scatter(*shapes[of_active].T, s=7, color="#56b4e9", label="of active molecules")
points = scaler.inverse_transform(np.array([key.vector for key in model.key_instances_]))
left.scatter(*points[:, :2].T, marker="*", s=130, c="#d55e00", ec="black", label="key conformers")
left.set(xlabel="donor to acceptor, Å", ylabel="donor to ring, Å")
left.legend(loc="upper right", fontsize=8)
best = int(np.argmax(model.decision_function(test)))
names = [f"conformer {place}" for place in range(test.sizes[best])]
InstanceContributionsDisplay.from_estimator(model, test[best], names=names, ax=right)
decision = model.decision_function(test)[best]
right.set_title(f"new molecule {test.names[best]}: {decision:+.2f} for activity", loc="left")
plt.show()
