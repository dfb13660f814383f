"""Newton and interior-point steps on working columns, for smooth losses."""
