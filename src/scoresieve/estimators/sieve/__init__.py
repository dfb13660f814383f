"""The parts of ``ScoreSieve``: selections, models of what they chose, and the choice among them."""
