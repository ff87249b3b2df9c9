"""`python -m locentropy`: the command line, where its folder is not on the path."""

from locentropy.cli.entry import run

if __name__ == "__main__":
    run()
