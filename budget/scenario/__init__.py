"""Scenario files: schema, units, loading, overrides."""

from budget.scenario.loading import Scenario, load, loads, shipped

__all__ = ["Scenario", "load", "loads", "shipped"]
