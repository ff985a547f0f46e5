"""Passwords in URLs are told to the runner, and to nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_matrix.github import masks
from unit_step import Step
