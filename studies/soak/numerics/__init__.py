"""Small problems with numbers that break solvers, and certificates confirmed by enumeration."""
