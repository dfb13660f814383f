"""What commands do with the library: make a model, keep it, describe it, ask it."""
