"""Mutation testing: one small fault at a time is put into a module, and a test must notice it."""
