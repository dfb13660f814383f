"""One file a command: its options, and what it does. Imports that take time stand in functions."""
