"""Fitted models in words: what was selected, how well it scores where, and what is proved."""
