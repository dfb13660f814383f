"""Bounds of the k highest scores side by side: test PRBEP, Rec@2p and average precision.

Run ``python -m studies.quality.top_k_bounds --data FOLDER --state FILE``. Four classes of News20
and six of Reuters-120, exactly 10 and 50 words, C = 3, 10, 30, intercept 1, gap 10 %. First the
checks: which bounds are convex, and which are bounds. Then, for k = P and for k = P / 2, every
bound at every C, and for k = P at the C of three-fold cross-validation on the training rows;
B = 250 without the limit of words, C = 10; and the refits of the search solved directly, beside
those by cuts.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from studies.common.data import Split, load
from studies.common.internals import refits_by, solve_hard_budget
from studies.common.limits import tally
from studies.common.options import add_state_options, finish, folder_of, make_parser, start
from studies.common.saved_runs import Task, run_saved
from studies.common.tables import print_note, print_table
from studies.common.timing import timed
from studies.quality.quiet import quiet_thread
from studies.quality.top_k_checks import check_risk, check_surrogates
from studies.quality.top_k_fits import (
    BOUNDS,
    Setting,
    cross_validated,
    limits,
    measured,
    problem_of,
)
from studies.quality.top_k_refits import DirectRefitter, SideBySide

GRID = (3.0, 10.0, 30.0)
BUDGETS = (10, 50)
RELAXED_BUDGET, RELAXED_C = 250, 10.0
#: Those whose C is chosen by cross-validation, too.
WITH_CV = ("paper", "two hinge sums", "one class each", "squared")
OURS = ("two hinge sums", "one class each", "squared", "squared, one class")
#: The bounds that are compared for each measure. For k = P those of Kar et al. are the paper's.
COMPARED = {
    "prbep": ("paper", *OURS),
    "prec@p/2": ("paper", "Kar avg", "Kar max", "two hinge sums", "one class each"),
}
RELAXED = ("paper", "two hinge sums", "two hinge sums, conjugate", "one class each", "squared")
NEWS20_CLASSES = (13, 9, 18, 8)
#: Reuters-120: classes with at least so many training positives, so many of them, from rare to
#: frequent.
FEWEST_POSITIVES, N_REUTERS = 20, 6
NAMES = {"prbep": "k = P", "prec@p/2": "k = P / 2"}


def classes_of(name: str, split: Split, args: argparse.Namespace) -> list[int]:
    """The classes of a set that are looked at."""
    if name == "news20":
        return list(NEWS20_CLASSES[: 1 if args.quick else None])
    labels, counts = np.unique(split.y, return_counts=True)
    order = np.argsort(counts, kind="stable")
    labels = labels[order][counts[order] >= FEWEST_POSITIVES]
    places = np.linspace(0, labels.size - 1, 1 if args.quick else N_REUTERS).round().astype(int)
    return [int(label) for label in labels[places]]


def settings_of(name: str, args: argparse.Namespace) -> Iterator[Setting]:
    """All settings of a set."""
    for measure in args.measures:
        for bound in COMPARED[measure]:
            for budget in args.budgets:
                for C in args.C:
                    yield Setting(bound, measure, budget, C)
    if name == "news20" and not args.quick:
        for bound in RELAXED:
            yield Setting(bound, "prbep", RELAXED_BUDGET, RELAXED_C, is_hard=False)


def wants_cv(setting: Setting, args: argparse.Namespace) -> bool:
    """Whether C is chosen among settings like this one."""
    is_compared = setting.is_hard and setting.measure == "prbep" and setting.bound in WITH_CV
    return is_compared and setting.budget in args.cv_budgets


def tasks(args: argparse.Namespace) -> Iterator[tuple[Any, Task]]:
    """(key, fit) for every class and setting, then the refits, then the cross-validations."""
    later: list[tuple[Any, Task]] = []
    last: list[tuple[Any, Task]] = []
    for name in args.sets:
        split = load(folder_of(args), name)
        for label in classes_of(name, split, args):
            for setting in settings_of(name, args):
                task = partial(fit_task, name, split, label, setting)
                yield ("fit", name, label, *asdict(setting).values()), task
                if wants_cv(setting, args):
                    task = partial(cv_task, name, split, label, setting)
                    last.append((("cv", name, label, *asdict(setting).values()), task))
            for budget in args.budgets:
                task = partial(refit_task, name, split, label, budget)
                later.append((("refits", name, label, budget), task))
    yield from later
    yield from last


def about(kind: str, name: str, split: Split, label: int) -> dict[str, Any]:
    """What a row is about."""
    positives = int(np.sum(split.labels(label)[0] > 0))
    return {"kind": kind, "set": name, "class": label, "positives": positives}


def fit_task(name: str, split: Split, label: int, setting: Setting) -> list[dict]:
    """One fit."""
    row = measured(split, label, setting)
    return [about("fit", name, split, label) | asdict(setting) | row]


def cv_task(name: str, split: Split, label: int, setting: Setting) -> list[dict]:
    """One cross-validation."""
    score = cross_validated(split, label, setting)
    return [about("cv", name, split, label) | asdict(setting) | {"cv": score}]


def refit_task(name: str, split: Split, label: int, budget: int, C: float = 10.0) -> list[dict]:
    """All refits of one search by three solvers, and the whole search by two."""
    y, X = split.labels(label)[0], split.X.tocsc()
    problem = problem_of(split.X, y, Setting("two hinge sums", "prbep", budget, C))
    rows: list[dict[str, Any]] = []
    beside = partial(SideBySide, X=X, rows=rows, with_clarabel=budget <= 10)
    with quiet_thread():
        with refits_by(beside):
            solve_hard_budget(problem, limits())
        by_cuts_s, by_cuts = timed(lambda: solve_hard_budget(problem, limits()))
        with refits_by(partial(DirectRefitter, X=X)):
            directly_s, directly = timed(lambda: solve_hard_budget(problem, limits()))
    search = {
        "search_s": by_cuts_s,
        "direct_search_s": directly_s,
        "objective": by_cuts.primal,
        "direct_objective": directly.primal,
    }
    whole = about("search", name, split, label) | {"budget": budget, "C": C} | search
    each = [about("refit", name, split, label) | {"budget": budget, "C": C} | row for row in rows]
    return [whole, *each]


#: What the checks count.
WRONGS = ("not_convex", "below", "wrong_cut")


def checked(n_problems: int) -> list[dict[str, Any]]:
    """The checks of every bound, for k <= P and for k = P."""
    rows = []
    for bound, make in BOUNDS.items():
        for at_p in (False, True):
            found = check_risk(make, n_problems, k_above=False, at_p=at_p)
            rows.append({"bound": bound, "k": "P" if at_p else "1 .. P"} | found)
    return rows


def show_checks(rows: list[dict[str, Any]], worst: dict[str, float], n_problems: int) -> None:
    """How often something does not hold."""
    print_note(f"Share of {n_problems} random problems with up to 8 examples, in %, where ...")
    head = ["bound", "k", "it is not convex", "it is below the misses", "a cut is wrong"]
    lines = [
        [row["bound"], row["k"], *(f"{100 * row[what]:.1f}" for what in WRONGS)] for row in rows
    ]
    print_table(head, lines, n_left=2)
    print_note(
        "Largest difference from the definitions over all labellings: "
        + ", ".join(f"{name} {value:.0e}" for name, value in worst.items())
        + " (the last: all three from the paper's bound at k = P)."
    )


COLUMNS = ("prbep", "rec_2p", "ap", "train_prbep")
HEAD = ["test PRBEP", "Rec@2p", "AP", "training PRBEP"]


def means(rows: list[dict[str, Any]], names: Sequence[str]) -> list[str]:
    """The mean over the rows of each column."""
    return [f"{np.mean([row[name] for row in rows]):.1f}" for name in names]


def alike(rows: list[dict], **wanted: Any) -> list[dict]:
    """The rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def show_grid(rows: list[dict], measure: str, name: str, budget: int) -> None:
    """Every bound at every C: means over the classes."""
    mine = alike(rows, kind="fit", set=name, measure=measure, budget=budget)
    if not mine:
        return
    own, own_head = (), []
    if measure == "prec@p/2":
        own, own_head = ("prec_half",), ["test Prec@P/2"]
    n_classes = len({row["class"] for row in mine})
    words = "exactly" if mine[0]["is_hard"] else "B ="
    print_note(f"{name}, {NAMES[measure]}, {words} {budget} words, means over {n_classes} classes:")
    lines = []
    for bound in dict.fromkeys(row["bound"] for row in mine):
        for C in dict.fromkeys(row["C"] for row in mine):
            at = alike(mine, bound=bound, C=C)
            empty = sum(row["words"] == 0 for row in at)
            line = [bound, f"{C:g}", *means(at, (*own, *COLUMNS)), empty]
            more = [f"{np.mean([row['words'] for row in at]):.0f}", *means(at, ("seconds",))]
            lines.append([*line, *more])
    print_table(["bound", "C", *own_head, *HEAD, "empty", "words", "s"], lines)


def at_chosen_C(rows: list[dict], name: str, budget: int) -> dict[str, list[dict]]:
    """For each bound the fits of all classes at the C of the best held-out PRBEP."""
    chosen: dict[str, list[dict]] = {}
    for held in alike(rows, kind="cv", set=name, budget=budget):
        at = alike(rows, kind="cv", set=name, budget=budget, bound=held["bound"])
        at = [row for row in at if row["class"] == held["class"]]
        if held is max(at, key=lambda row: row["cv"]):
            found = alike(rows, kind="fit", set=name, budget=budget, measure="prbep")
            found = alike(found, bound=held["bound"], C=held["C"], is_hard=True)
            chosen.setdefault(held["bound"], []).extend(alike(found, **{"class": held["class"]}))
    return chosen


def show_chosen(rows: list[dict], name: str, budget: int) -> None:
    """One line a bound, at the C of cross-validation, and on how many classes it is ahead."""
    chosen = at_chosen_C(rows, name, budget)
    if not chosen:
        return
    print_note(f"{name}, k = P, exactly {budget} words, C of each class by cross-validation:")
    ours = {row["class"]: row["prbep"] for row in chosen["two hinge sums"]}
    lines = []
    for bound, at in chosen.items():
        ahead = sum(row["prbep"] > ours[row["class"]] for row in at)
        behind = sum(row["prbep"] < ours[row["class"]] for row in at)
        Cs = " ".join(f"{row['C']:g}" for row in at)
        lines.append([bound, *means(at, COLUMNS), f"{ahead} / {behind}", Cs])
    print_table(["bound", *HEAD, "ahead of / behind two hinge sums", "C of each class"], lines)


def show_refits(rows: list[dict], args: argparse.Namespace) -> None:
    """Seconds of all refits of a kind, and of the searches, as ratios."""
    lines = []
    for name in args.sets:
        for budget in args.budgets:
            refits = alike(rows, kind="refit", set=name, budget=budget)
            searches = alike(rows, kind="search", set=name, budget=budget)
            if refits:
                lines.append([name, budget, *refit_line(refits, searches)])
    print_note("Refits of the searches for two hinge sums, C = 10: directly, and by cuts:")
    head = ["set", "words", "refits", "by cuts, ms", "direct / cuts", "up to 50 words"]
    head += ["Clarabel / cuts", "largest gap", "whole search", "its objective"]
    print_table(head, lines)
    print_note("Ratios of total seconds. Largest gap: of the direct refits that were not given up.")


def total(rows: list[dict], name: str) -> float:
    """The sum of a column."""
    return float(sum(row[name] for row in rows))


def refit_line(refits: list[dict], searches: list[dict]) -> list[Any]:
    """What the refits of one set and number of words come to."""
    by_cuts = total(refits, "bundle_s")
    small = [row for row in refits if row["words"] <= 50]
    conic = [row for row in refits if "clarabel_s" in row]
    gaps = [row["direct_gap"] for row in refits if not row["direct_given_up"]]
    objective = np.mean([row["direct_objective"] / row["objective"] for row in searches])
    return [
        len(refits),
        f"{1000 * by_cuts / len(refits):.0f}",
        f"{total(refits, 'direct_s') / by_cuts:.2f}",
        f"{total(small, 'direct_s') / total(small, 'bundle_s'):.2f}",
        f"{total(conic, 'clarabel_s') / total(conic, 'bundle_s'):.2f}" if conic else None,
        f"{max(gaps):.3f}",
        f"{total(searches, 'direct_search_s') / total(searches, 'search_s'):.2f}",
        f"{objective:.3f}",
    ]


def report(rows: list[dict], args: argparse.Namespace) -> None:
    """All tables but those of the checks."""
    for name in args.sets:
        for budget in args.budgets:
            show_chosen(rows, name, budget)
    for measure in args.measures:
        for name in args.sets:
            for budget in (*args.budgets, RELAXED_BUDGET):
                show_grid(rows, measure, name, budget)
    show_refits(rows, args)
    fits = alike(rows, kind="fit")
    print_note(
        f"{len(fits)} fits and {len(alike(rows, kind='cv'))} cross-validations of three fits; at a "
        f"limit: {tally(row['limit'] for row in fits)}. Other work ran beside: seconds are rough."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser("quality.top_k_bounds", __doc__)
    parser.add_argument("--sets", nargs="+", default=["news20", "reuters120"])
    parser.add_argument("--measures", nargs="+", choices=list(COMPARED), default=list(COMPARED))
    parser.add_argument("--budgets", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument("--cv-budgets", nargs="+", type=int, default=list(BUDGETS))
    parser.add_argument("--C", nargs="+", type=float, default=list(GRID))
    parser.add_argument("--problems", type=int, default=1000, help="of the checks")
    add_state_options(parser, "fits")
    args = parser.parse_args(arguments)
    if args.quick:
        args.sets, args.budgets, args.cv_budgets = args.sets[-1:], [10], [10]
        args.C, args.problems = args.C[:2], min(args.problems, 100)
    found = list(tasks(args))
    checks, worst = checked(args.problems), check_surrogates(args.problems)
    show_checks(checks, worst, args.problems)
    rows = run_saved(found, args.state, args.jobs)
    report(rows, args)
    finish(args, {"checks": checks, "from_definitions": worst, "rows": rows})


if __name__ == "__main__":
    start(main)
