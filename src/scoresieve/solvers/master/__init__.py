"""The restricted master problem: small, dense, structured; solved by interior points."""
