"""The bundle: cuts, columns, and a small master problem; for every convex risk."""
