"""Fitted models as plain data: one file of JSON and arrays, read strictly."""
