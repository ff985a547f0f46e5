"""The report as one self-contained HTML page: what a person opens who comes from a red CI job."""

from memory_matrix.report.html.rendering import render

__all__ = ["render"]
