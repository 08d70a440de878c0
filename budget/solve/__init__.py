"""Solvers: they see numeric functions and nothing else, and do no input or output."""
