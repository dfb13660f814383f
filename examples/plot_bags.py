"""Which shape of a molecule makes it active? Conformers as instances, molecules as bags.

A molecule takes many shapes (conformers), and it is active if one of them fits the binding site.
The label is known for the molecule only. ``python examples/mil_conformers.py`` generates molecules
with this rule, selects a few conformers that decide, compares with two simpler models, and draws
the conformers and what each one adds to the decision about a molecule. With ``--data FOLDER`` it
takes the Musk1 molecules of ``FOLDER/mil/musk1.npz``. ``--figure FILE`` names the picture.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from scoresieve.baselines import MILES, MeanInstanceSVM
from scoresieve.mil import Bags, BagScoreSieve
from scoresieve.plotting import InstanceContributionsDisplay

COLUMNS = ["donor to acceptor", "donor to ring", "acceptor to ring", "bend of ring"]
UNITS = ["Å", "Å", "Å", "°"]
#: The binding site wants a donor 2.9 Å from the acceptor and 5.2 Å from the ring.
SITE = np.array([2.9, 5.2])


def make_molecules(n_molecules: int, seed: int) -> tuple[Bags, np.ndarray]:
    """Molecules of 4 to 14 conformers around a shape of their own; one in four is active."""
    rng = np.random.default_rng(seed)
    active = np.arange(n_molecules) % 4 == 0
    conformers, molecule = [], []
    for number in range(n_molecules):
        own_shape = rng.uniform([3.0, 4.0, 3.0, 20.0], [8.0, 9.0, 8.0, 70.0])
        shapes = own_shape + rng.normal(size=(rng.integers(4, 15), 4)) * [1.2, 1.2, 1.0, 12.0]
        misfit = np.linalg.norm(shapes[:, :2] - SITE, axis=1)
        shapes = shapes[misfit > 0.8]
        if active[number] or len(shapes) == 0:
            fitting = rng.uniform([0.0, 0.0, 3.0, 20.0], [0.0, 0.0, 8.0, 70.0])
            fitting[:2] = SITE + 0.15 * rng.normal(size=2)
            shapes = np.vstack([shapes, fitting])
            active[number] = True
        conformers.append(rng.permutation(shapes))
        molecule += [f"M{number:03d}"] * len(shapes)
    return Bags.from_groups(np.concatenate(conformers), molecule), active


def load_musk1(folder: Path) -> tuple[Bags, np.ndarray]:
    """92 molecules of the Musk1 data, 166 measured distances for each conformer."""
    with np.load(folder / "mil" / "musk1.npz") as stored:
        bags = Bags.from_groups(stored["X"].astype(float), stored["bag"])
        return bags, stored["bag_label"][bags.names] > 0


def scaled(train: Bags, test: Bags) -> tuple[Bags, Bags, StandardScaler]:
    """Columns in units of their standard deviation over the training conformers."""
    scaler = StandardScaler().fit(train.instances)
    bags = [
        Bags(scaler.transform(part.instances), part.offsets, part.names) for part in (train, test)
    ]
    return *bags, scaler


def compare(train: Bags, y: np.ndarray, test: Bags, y_test: np.ndarray) -> BagScoreSieve:
    """Fit three models, print their test F1, and return ours."""
    ours = BagScoreSieve("f1", n_instances_to_select=[1, 3, 6], cv=3)
    models = {
        "few conformers, chosen by F1": ours,
        "MILES, the same number of conformers": MILES(
            k_tol=0.5, class_weight="balanced", max_iter=20_000
        ),
        "linear SVM on the mean conformer": MeanInstanceSVM(
            class_weight="balanced", max_iter=20_000
        ),
    }
    for name, model in models.items():
        if isinstance(model, MILES):
            model.set_params(
                n_instances_to_select=ours.n_instances_selected_, sigma=ours.best_params_["sigma"]
            )
        model.fit(train, y)
        selected = getattr(model, "n_instances_selected_", "all")
        score = f1_score(y_test, model.predict(test))
        print(f"{name:38s} F1 on new molecules {score:.2f}, conformers used: {selected}")
    return ours


def describe(model: BagScoreSieve, train: Bags, scaler: StandardScaler, columns: list) -> None:
    """Print the key conformers in the units that they were measured in."""
    print("\nConformers that decide:")
    for key in model.key_instances_:
        shape = scaler.inverse_transform(key.vector[np.newaxis])[0][: len(columns)]
        values = ", ".join(
            f"{name} {value:.1f} {unit}"
            for name, value, unit in zip(columns, shape, UNITS, strict=False)
        )
        name = train.names[key.bag]
        print(f"  weight {key.weight:+.2f}: conformer {key.position} of {name}  {values}")


def draw(
    model: BagScoreSieve, train: Bags, test: Bags, scaler: StandardScaler, y: np.ndarray
) -> plt.Figure:
    """All training conformers with the key ones, and one new molecule taken apart."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    shapes = scaler.inverse_transform(train.instances)[:, :2]
    of_active = np.repeat(y, train.sizes)
    for chosen, colour, label in ((~of_active, "#b0b0b0", "in"), (of_active, "#56b4e9", "")):
        left.scatter(*shapes[chosen].T, s=7, color=colour, label=f"of {label}active molecules")
    keys = model.key_instances_
    points = scaler.inverse_transform(np.array([key.vector for key in keys]))[:, :2]
    signs = np.array([key.weight > 0 for key in keys])
    for chosen, colour, label in ((signs, "#0072b2", "for"), (~signs, "#d55e00", "against")):
        if chosen.any():
            left.scatter(
                *points[chosen].T, marker="*", s=190, color=colour, edgecolor="black",
                label=f"key conformer {label} activity",
            )  # fmt: skip
    left.set_xlabel(f"{COLUMNS[0]}, {UNITS[0]}")
    left.set_ylabel(f"{COLUMNS[1]}, {UNITS[1]}")
    left.set_title("all conformers, and those that decide", loc="left")
    left.legend(loc="upper right", fontsize=8)
    best = int(np.argmax(model.decision_function(test)))
    names = [f"conformer {place}" for place in range(test.sizes[best])]
    InstanceContributionsDisplay.from_estimator(model, test[best], names=names, ax=right)
    decision = model.decision_function(test)[best]
    right.set_title(f"new molecule {test.names[best]}: {decision:+.2f} for activity", loc="left")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER", type=Path)
    parser.add_argument("--figure", metavar="FILE", type=Path, default=Path("mil_conformers.png"))
    args = parser.parse_args()
    bags, active = make_molecules(240, seed=0) if args.data is None else load_musk1(args.data)
    print(f"{bags}, {np.count_nonzero(active)} active\n")
    train, test, y, y_test = train_test_split(
        bags, active, test_size=0.4, random_state=0, stratify=active
    )
    train, test, scaler = scaled(train, test)
    model = compare(train, y, test, y_test)
    describe(model, train, scaler, COLUMNS if args.data is None else [])
    if args.data is None:
        figure = draw(model, train, test, scaler, y)
    else:
        best = int(np.argmax(model.decision_function(test)))
        figure = InstanceContributionsDisplay.from_estimator(model, test[best]).figure_
    figure.savefig(args.figure, dpi=110)
    print(f"\nwrote {args.figure}")


if __name__ == "__main__":
    main()
