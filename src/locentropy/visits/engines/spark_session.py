"""A local Spark session, if the caller gives none."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locentropy.core.errors import EngineError
from locentropy.visits.private_log import PRIVATE_LOG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from locentropy.visits.engines.base import Resources


def local_session(resources: Resources, folder: str) -> Any:
    """A session on this machine that listens on loopback only and spills to `folder`."""
    require_spark()
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is not None:
        raise EngineError(
            "A Spark session is already running in this process, and there can be only one. Pass it: "
            "Resources(session=spark), or Visits(spark_data_frame)."
        )
    require_java()
    threads = resources.threads or os.cpu_count() or 1
    settings = {
        "spark.master": f"local[{threads}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": _java_amount(resources.memory or "2GB"),
        "spark.driver.maxResultSize": "0",  # a profile is as long as the list of locations
        "spark.sql.shuffle.partitions": str(max(8, 4 * threads)),
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": str(Path(folder) / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.appName("locentropy")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with _errors_to(Path(folder) / "spark.log"):
            session = builder.getOrCreate()
    except Exception as error:
        PRIVATE_LOG.info("Spark did not start: %s", error)
        raise EngineError(
            f"Spark did not start ({type(error).__name__}). Is Java 17 or 21 installed, is JAVA_HOME set to it, "
            "and is there enough memory (--memory 2GB)?"
        ) from None
    session.sparkContext.setLogLevel("OFF")  # its errors quote data
    if (
        "PYSPARK_PYTHON" not in os.environ
    ):  # Spark would run any python3, which may lack the packages that this one has
        session.sparkContext.pythonExec = sys.executable
    return session


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """Send the standard error of processes started meanwhile to a file: Java prints many warnings."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    before = os.dup(2)
    try:
        os.dup2(handle, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(handle)


def require_spark() -> None:
    """Raise EngineError, with how to install Spark, if it is not installed, or what Ibis needs to speak with it."""
    missing = [name for name in ("pyspark", "pandas", "pyarrow_hotfix") if find_spec(name) is None]
    if missing:
        raise EngineError(
            f"Spark needs {', '.join(missing)}, which is not installed. To install it: pip install 'locentropy[spark]'"
        )


def require_java() -> None:
    """Raise EngineError, with how to install Java, if it is not installed."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java") if home is None else shutil.which("java", path=str(Path(home) / "bin"))
    if found is None:
        where = "none is on the PATH" if home is None else f"JAVA_HOME={home} has no bin/java"
        raise EngineError(
            f"Spark needs Java 17 or 21, but {where}. On Debian or Ubuntu: apt install openjdk-17-jre-headless. "
            "Elsewhere install any Java 17 and set JAVA_HOME to its folder; or pass a session of your cluster: "
            "Resources(session=spark)."
        )


def _java_amount(memory: str) -> str:
    """2GB, 1.5GiB, … in whole megabytes, as Java writes them."""
    number, unit = memory.rstrip("iBKMGT "), memory.strip().rstrip("B").rstrip("i")[-1]
    megabytes = float(number) * {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}[unit]
    return f"{max(1, round(megabytes))}m"
