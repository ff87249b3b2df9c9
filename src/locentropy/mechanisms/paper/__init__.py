"""The algorithms of the 2016 paper, with guarantees that hold."""
