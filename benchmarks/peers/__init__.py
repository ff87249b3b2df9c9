"""What `benchmarks/peers.py` is made of; the contenders are scripts, each run in an environment of its own."""
