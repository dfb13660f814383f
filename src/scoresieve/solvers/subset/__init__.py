"""Splicing: the best few units by exchanging them, many at first, then one by one."""
