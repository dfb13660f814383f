"""What the studies share: data, thresholds, storing, tables, figures, options, progress."""
