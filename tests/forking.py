"""Commands in a process of their own that starts at once: a fork of one that has imported everything and used nothing.

    done = forked("from locentropy.cli.main import run; run()", "entropy", "visits.csv", cwd=folder)

As with `python -c`: the code ends as the interpreter ends, with its exit code or signal. Whatever depends on how Python is
started (encodings, limits of memory) needs `subprocess`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent
RUN = "from locentropy.cli.main import run; run()"
USED = """
scipy.stats scipy.optimize threadpoolctl pyarrow.dataset rich.progress rich.table pandas duckdb opendp.prelude
ibis.backends.sql.compilers.duckdb sqlglot.dialects.duckdb
locentropy.cli.main locentropy.release.report.page locentropy.release.verify locentropy.visits.engines.duckdb
locentropy.mechanisms.shares.estimator.inference
""".split()


@cache
def server() -> subprocess.Popen[str]:
    """One for all tests of a process; it ends when its input does."""
    environment = os.environ | {"COLUMNS": "120", "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.forking"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)


def forked(
    code: str, *arguments: object, cwd: Path | None = None, to: str | None = None, patience: int = 120
) -> subprocess.CompletedProcess[str]:
    """Run code with arguments, and wait for its end; its standard output may go elsewhere."""
    process = server()
    assert process.stdin is not None
    assert process.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        order = {
            "code": code,
            "arguments": ["-c", *map(str, arguments)],
            "folder": str(cwd or Path.cwd()),
            "streams": [to or str(out), str(err)],
            "patience": patience,
        }
        print(json.dumps(order), file=process.stdin, flush=True)
        returned = int(process.stdout.readline())
        said, told = (
            path.read_text(errors="backslashreplace") if path.exists() else "" for path in (out, err)
        )
        return subprocess.CompletedProcess([code, *arguments], returned, said, told)


def locentropy(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command of ours, on a screen of 120 columns without colours."""
    return forked(RUN, *arguments, cwd=cwd)


def serve(orders: IO[str]) -> None:
    """Fork for each order; a fork returns from here, and ends as the interpreter does."""
    for name in USED:
        import_module(name)
    replies = os.fdopen(os.dup(1), "w")
    for line in orders:
        order = json.loads(line)
        pid = os.fork()
        if not pid:
            begin(order)
            return
        replies.write(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n")
        replies.flush()


def begin(order: dict[str, object]) -> None:
    """Become the process that was ordered."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, path in zip((1, 2), order["streams"], strict=True):  # type: ignore[call-overload]
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), stream)
    signal.alarm(order["patience"])  # type: ignore[arg-type]
    os.chdir(str(order["folder"]))
    sys.argv = order["arguments"]  # type: ignore[assignment]
    exec(str(order["code"]), {"__name__": "__main__"})  # noqa: S102


if __name__ == "__main__":
    serve(sys.stdin)
