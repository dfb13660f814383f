"""Claims and verdicts: what the paper says, its number, ours, and whether it holds here.

holds                all of the settings that a claim speaks of agree with it
holds partly         at least half of them, but not all
does not hold here   fewer than half
not run              there are none
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

HOLDS, PARTLY, FAILS, OPEN = "holds", "holds partly", "does not hold here", "not run"


def verdict(n_agree: int, n_settings: int) -> str:
    """What is said of a claim that ``n_agree`` of ``n_settings`` settings agree with."""
    if n_settings == 0:
        return OPEN
    if n_agree == n_settings:
        return HOLDS
    return PARTLY if 2 * n_agree >= n_settings else FAILS


@dataclass(frozen=True)
class Claim:
    """One row of the page.

    Attributes
    ----------
    text : str
        What the paper says.
    paper : str
        Its number, or "no number in the text".
    ours : str
    n_agree, n_settings : int
        How many of the settings that the claim speaks of agree with it.
    reason : str
        Where the verdict comes from.
    """

    text: str
    paper: str
    ours: str
    n_agree: int
    n_settings: int
    reason: str

    @property
    def verdict(self) -> str:
        """Whether it holds here."""
        return verdict(self.n_agree, self.n_settings)

    def stored(self) -> dict[str, Any]:
        """As JSON has it, with the verdict for those who read the file."""
        return asdict(self) | {"verdict": self.verdict}


def judged(text: str, paper: str, ours: str, conditions: Sequence[bool], reason: str) -> Claim:
    """A claim with the outcome of the comparisons that it comes down to.

    Parameters
    ----------
    text, paper, ours, reason : str
        As for :class:`Claim`.
    conditions : sequence of bool
        One for each setting; none if nothing was run.
    """
    outcomes = [bool(condition) for condition in conditions]
    return Claim(text, paper, ours, sum(outcomes), len(outcomes), reason)


def count(conditions: Sequence[bool], what: str) -> str:
    """How many of several comparisons hold, such as "3 of 4 budgets"."""
    conditions = list(conditions)
    return f"{sum(conditions)} of {len(conditions)} {what}"
