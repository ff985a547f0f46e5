"""Runs inside the environments under test: standard library only, Python 3.8 to 3.15.

Started by path (`python .../worker/__main__.py JOB`), so that memory-matrix need not be installed
there. It keeps to syntax that Python 3.6 reads, since very old writers are worth testing too.
"""
