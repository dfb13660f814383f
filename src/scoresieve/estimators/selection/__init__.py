"""Models chosen by their scores on rows that they have not seen."""
