"""Pretraining-loss forms, one module each."""
