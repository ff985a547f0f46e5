"""memory-matrix: find what breaks in AI-agent memory when versions change."""

__version__ = "0.1.0"
