"""General losses on news20.binary, 1.36 million columns, beside the l1-SVM and FGM.

Run ``python -m studies.speed.losses --data FOLDER``. 11,997 training rows, squared hinge, tol
0.01, budgets 50 and 250, C = 1 and 10, no intercept. The l1-SVM has the same loss; its C is
searched beforehand, so that its number of features is within 20 % of ours, and it stops at
liblinear's default tolerance. FGM has the same problem; its history says when its objective was
within 0.1 % of ours, and when its certified gap was at most tol. Only final fits are timed, in
turn, and the least of three times is taken; FGM runs once.
``--losses`` are further smooth losses, which have no peer here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score

from scoresieve import BudgetClassifier
from scoresieve.baselines import FGM
from studies.common.data import Split, load
from studies.common.limits import fit_noting_limit, limit_note, limit_of
from studies.common.options import finish, folder_of, make_parser, start
from studies.common.progress import log
from studies.common.tables import pass_or_fail, print_note, print_table
from studies.common.timing import timed
from studies.speed.l1svm import L1Fit, fit_l1svm, peer_row, seconds_text, tune_C

TOL = 0.01
L1_TOLERANCE, L1_SEARCH_TOLERANCE = 1e-4, 1e-2
#: At most so many times the time of the l1-SVM, and at least so many times faster than FGM.
WANTED_RATIO, WANTED_SPEED_UP = 2.0, 5.0
#: Objectives that differ by less than this share are equal.
SAME_OBJECTIVE = 1e-3


def compare(split: Split, loss: str, budget: int, C: float, n_repeats: int) -> dict[str, Any]:
    """Our fit, its certificate, and for the squared hinge the fits of its peers."""
    arguments = {"loss": loss, "budget": budget, "C": C}

    def fit() -> BudgetClassifier:
        return BudgetClassifier(**arguments, fit_intercept=False, tol=TOL).fit(split.X, split.y)

    model = fit()
    check = model.certify(split.X, split.y)
    n_features = model.n_features_selected_
    tuned = tune(split, n_features) if loss == "squared_hinge" else None

    def fit_peer() -> L1Fit:
        return fit_l1svm(split.X, split.y, tuned.C, tol=L1_TOLERANCE)

    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(n_repeats):
        ours.append(timed(fit)[0])
        if tuned is not None:
            seconds, peer = timed(fit_peer)
            theirs.append(seconds)
    row = {
        **arguments,
        "seconds": min(ours),
        "all_seconds": ours,
        "n_features": n_features,
        "status": model.status_[0].name,
        "limit": limit_of(model),
        "primal": float(model.primal_[0]),
        "dual": float(model.dual_[0]),
        "certified_gap": check.gap,
        "rounds": int(model.n_iter_[0]),
        "n_working": model.history_[0][-1].n_working,
        "test_accuracy": accuracy(split, model.decision_function(split.X_test)),
    }
    if tuned is not None:
        row["l1svm"] = peer_row(
            peer,
            n_features,
            seconds=min(theirs),
            all_seconds=theirs,
            test_accuracy=accuracy(split, peer.scores(split.X_test)),
        )
        row["fgm"] = fgm_row(split, budget, C, row["primal"])
    return row


def fgm_row(split: Split, budget: int, C: float, primal: float) -> dict[str, Any]:
    """The same problem by the cutting planes of FGM: seconds to our objective, and to the gap."""
    model = FGM(
        budget=budget,
        C=C,
        fit_intercept=False,
        stop="gap",
        tol=SAME_OBJECTIVE,
        max_groups=200,
        max_time=60.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        total, limit = timed(lambda: fit_noting_limit(model, split.X, split.y))
    log(f"FGM B = {budget}, C = {C:g}: {total:.1f} s, ended at {limit or 'its gap'}")
    rounds = model.history_[0]

    def first(reached: Callable[[Any], bool]) -> float | None:
        return next((row.time for row in rounds if reached(row)), None)

    return {
        "seconds": total,
        "to_objective": first(lambda row: row.primal <= (1.0 + SAME_OBJECTIVE) * primal),
        "to_gap": first(lambda row: row.primal - row.dual <= TOL * row.primal),
        "primal": float(model.primal_[0]),
        "gap": float(model.gap_[0]),
        "n_features": model.n_features_selected_,
        "limit": limit,
    }


def tune(split: Split, n_features: int) -> L1Fit:
    """The l1-SVM with about as many features, found with coarse fits."""
    fit = tune_C(split.X, split.y, n_features, tol=L1_SEARCH_TOLERANCE)
    log(f"l1-SVM for {n_features} features: C {fit.C:.4g}, {fit.n_features}")
    return fit


def accuracy(split: Split, scores: np.ndarray) -> float:
    """Accuracy of the test rows at threshold 0, in per cent."""
    return 100.0 * float(accuracy_score(split.y_test, np.where(scores > 0, 1, -1)))


def report(results: list[dict[str, Any]]) -> None:
    headers = ["loss", "B", "C", "seconds", "features", "certified gap", "rounds", "accuracy"]
    headers += ["l1-SVM s", "features", "accuracy", "ours / l1-SVM"]
    headers += ["FGM s to our objective", "to the gap", "FGM / ours"]
    rows = []
    for row in results:
        cells = [row["loss"], row["budget"], f"{row['C']:g}", f"{row['seconds']:.2f}"]
        cells += [row["n_features"], f"{row['certified_gap']:.4f}", row["rounds"]]
        cells += [f"{row['test_accuracy']:.2f}"]
        peer = row.get("l1svm")
        if peer is None:
            cells += [""] * 7
        else:
            cells += [seconds_text(peer), peer["n_features"]]
            cells += [f"{peer['test_accuracy']:.2f}", f"{row['seconds'] / peer['seconds']:.2f}"]
            fgm = row["fgm"]
            cells += [shown(fgm["to_objective"], fgm), shown(fgm["to_gap"], fgm)]
            cells += [f"{speed_up(row):.1f}"]
        rows.append(cells)
    print_table(headers, rows)


def shown(seconds: float | None, fgm: dict[str, Any]) -> str:
    """Seconds, or that it took longer than the whole run."""
    return f"> {fgm['seconds']:.1f}" if seconds is None else f"{seconds:.1f}"


def speed_up(row: dict[str, Any]) -> float:
    """FGM's seconds to our objective, at least those of its whole run, over ours."""
    fgm = row["fgm"]
    return (fgm["to_objective"] or fgm["seconds"]) / row["seconds"]


def targets(results: list[dict[str, Any]]) -> None:
    """How the targets stand."""
    ratios = [row["seconds"] / row["l1svm"]["seconds"] for row in results if "l1svm" in row]
    print_note(
        f"Largest ratio {max(ratios):.2f}, wanted at most {WANTED_RATIO:g}: "
        f"{pass_or_fail(max(ratios) <= WANTED_RATIO)}."
    )
    speed_ups = [speed_up(row) for row in results if "fgm" in row]
    print_note(
        f"Smallest speed-up over FGM at equal objective {min(speed_ups):.1f}, wanted at least "
        f"{WANTED_SPEED_UP:g}: {pass_or_fail(min(speed_ups) >= WANTED_SPEED_UP)}."
    )
    certified = all(row["certified_gap"] <= TOL for row in results)
    print_note(f"Every gap certified within {TOL:g}: {pass_or_fail(certified)}.")
    fits = {"ours": results, "FGM": [row["fgm"] for row in results if "fgm" in row]}
    print_note(limit_note(fits))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("speed.losses", __doc__)
    parser.add_argument("--budgets", nargs="+", type=int, default=[50, 250])
    parser.add_argument("--C", nargs="+", type=float, default=[1.0, 10.0])
    parser.add_argument("--losses", nargs="*", default=["logistic", "huber_hinge"])
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each fit")
    args = parser.parse_args(arguments)
    if args.quick:
        args.budgets, args.C, args.losses, args.repeats = args.budgets[:1], args.C[:1], [], 1
    split = load(folder_of(args), "news20_binary")
    results = []
    for loss in ["squared_hinge", *args.losses]:
        for C in args.C:
            for budget in args.budgets:
                results.append(compare(split, loss, budget, C, args.repeats))
                log(f"{loss} B = {budget}, C = {C:g}: {results[-1]['seconds']:.2f} s")
    print(f"News20.binary, training part {split.X.shape[0]} x {split.X.shape[1]}, tol {TOL:g}\n")
    report(results)
    targets(results)
    finish(args, {"results": results})


if __name__ == "__main__":
    start(main)
