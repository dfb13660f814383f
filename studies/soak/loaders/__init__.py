"""The ways into the package, each with the files that try it."""
