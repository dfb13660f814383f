"""What was chosen, in words."""

from __future__ import annotations

from typing import Any

from scipy.special import expit

from scoresieve.measures import Measure


def choice_in_words(
    measure: Measure, table: dict[str, Any], row: int, odds: float, *, columns: str, rows: str
) -> list[str]:
    """Lines about the score of a choice, where it is from, and the threshold.

    Parameters
    ----------
    table : dict
        ``cv_results_`` of one class.
    row : int
        What was chosen there.
    odds : float
        The log-odds that alarms begin at.
    columns, rows : str
        What the columns and the rows are called: "features", "bags".
    """
    point = table["params"][row]
    return [
        f"{measure.name} {table['mean_test_score'][row]:.3f} (standard error "
        f"{table['std_test_score'][row]:.3f}) on {rows} that the models had not seen, the best of "
        f"{len(table['params'])} settings and so a little too high",
        f"{columns} chosen by {point['selection']}; model on them: {point['final_model']}",
        f"alarms from a probability of {expit(odds):.3f} on",
    ]
