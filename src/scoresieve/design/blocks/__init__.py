"""X as row blocks that are not in memory: in a folder, or on the workers of a cluster."""
