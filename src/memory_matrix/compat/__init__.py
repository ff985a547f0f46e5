"""Write, store, read and judge: how memory written in one environment fares in every other."""
