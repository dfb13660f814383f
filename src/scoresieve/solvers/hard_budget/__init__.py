"""At most k features: the search for them, with a bound on how much better any others are."""
