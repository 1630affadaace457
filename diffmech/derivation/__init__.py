"""Proof on paper: equations printed, derived by independent routes, and compared with one's own."""
