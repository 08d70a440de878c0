"""The report: numbers of an outcome as text, tables and figures for people."""
