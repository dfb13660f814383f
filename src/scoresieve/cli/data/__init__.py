"""Files as X and y: what they hold, how to read them, and how to read others like them."""
