"""What users install, where nothing else is: `make bare`. Developers have more modules, which hide that one is missing.

Environments are made of one wheelhouse, without a network: one with what `pip install .` makes, and for each extra one
with the wheel that a release uploads. Each page is followed in the first of them, but for snippets that say what they
need besides; so is every way to choose places that needs no extra. What an extra is for must work where it is installed,
and elsewhere the command must say how to install it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import pyarrow.csv
import pyarrow.parquet as pq
from packaging.requirements import Requirement

from locentropy.datasets.city import City
from tests.pages import snippets

ROOT = Path(__file__).parent.parent
WHEELHOUSE = ROOT / ".bare" / "wheelhouse"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OPTIONAL = PROJECT["project"]["optional-dependencies"]
EXTRAS = sorted(set(OPTIONAL) - {"dev", "docs"})

LIST = "--places demo/places.csv --provenance register"
MAP = "demo/districts.geojson --zone-id name --provenance map"
BOX = "42.97,-31.05,43.03,-30.95"
WAYS = {
    "list": LIST,
    "grid": f"--grid {BOX} --cell 1000",
    "groups": f"{LIST} --group-by district",
    "levels": f"{LIST} --levels place,district,city",
    "selection": "--select-epsilon 0.5 --select-delta 1e-6 --select-max-locations 5",
    "without-a-list": "--mechanism limit-ptr --max-locations 5 --max-visits 5 --min-users 20 --delta 1e-6",
}
"""Each way to choose places that needs no extra, as options of `publish`."""
OF_EXTRAS = {
    "excel": {"workbook": f"publish visits.xlsx {LIST}"},
    "geo": {
        "zones": f"publish demo/visits.parquet --zones {MAP} --also gpkg",
        "hexagons": f"publish demo/visits.parquet --h3 8 --zones {MAP}",
        "hexagons-in-a-box": f"publish demo/visits.parquet --h3 8 --box {BOX}",
        "inspire": f"publish demo/visits.parquet --inspire 1km --zones {MAP}",
        "squares-in-zones": f"publish demo/visits.parquet --cell 500 --zones {MAP}",
        "outline": f"publish demo/visits.parquet {LIST} --outline demo/districts.geojson",
    },
    "spark": {"on-spark": f"publish demo/visits.parquet --engine spark {LIST}"},
}
"""What each extra is for; `plots` is for the pictures of `evaluate`, which does without."""
PUBLISHED = "--epsilon 1 --no-ledger --out {name}"


TOLD = ("README.md", "docs/index.md", "docs/tutorial.md", "docs/publishing.md")
"""Pages whose commands can be run in turn; of others only the Python can."""


def pages() -> list[Path]:
    """Pages that are told, and those that show Python; one more is a story that a test follows."""
    python = [page for page in sorted(ROOT.glob("docs/**/*.md")) if "```python\n" in page.read_text()]
    told = [ROOT / page for page in TOLD]
    return [*told, *(page for page in python if page not in told and page.stem != "add-a-mechanism")]


def for_python(page: Path) -> str:
    """What the Python of a page needs, which is one story: all that any of it does."""
    python = (each for each in snippets(page.read_text()) if each.language == "python")
    return " ".join(sorted({word for each in python for word in each.needs.split()}))


def needed(page: Path) -> set[str]:
    """What has to be in an environment, for the commands and the Python of a page."""
    shown = snippets(page.read_text())
    return {each.needs for each in shown if each.language != "python"} | {for_python(page)}


def pip(*words: object) -> None:
    """Run pip without settings of this machine; it says nothing unless it fails."""
    call = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", *map(str, words)]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{shlex.join(call)}\n{done.stderr}")


def wheelhouse() -> None:
    """Fill the wheelhouse, unless it was filled for the same requirements."""
    bounds = {Requirement(each).name: each for each in OPTIONAL["dev"]}
    others = {name for page in pages() for need in needed(page) for name in need.split() if "[" not in name}
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"], "editables"]
    wanted += [each for extra in EXTRAS for each in OPTIONAL[extra]] + [
        bounds[name] for name in sorted(others)
    ]
    stamp = WHEELHOUSE / "requirements.txt"
    if stamp.is_file() and stamp.read_text().splitlines() == wanted:
        return
    shutil.rmtree(WHEELHOUSE, ignore_errors=True)
    WHEELHOUSE.mkdir(parents=True)
    # Not isolated: where an index is, this machine's settings say.
    call = [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(WHEELHOUSE), *wanted]
    subprocess.run(call, check=True)
    stamp.write_text("\n".join(wanted))


@dataclass(frozen=True)
class Environment:
    """An environment that has a wheel, what it asks for, and nothing else, not even pip."""

    home: Path

    @classmethod
    def made(cls, home: Path, wheel: Path, needs: str) -> Environment:
        """Make it."""
        venv.create(home, symlinks=True)
        house = ("--no-index", "--find-links", WHEELHOUSE)
        pip("--python", home / "bin" / "python", "install", "--no-compile", *house, wheel, *needs.split())
        return cls(home)

    @property
    def programs(self) -> str:
        """Where its commands are."""
        return str(self.home / "bin")

    def run(self, command: str | list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a folder, with nothing that this environment has to do with it."""
        ours = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL"))}
        path = os.pathsep.join((str(self.home.parent / "openers"), self.programs, ours["PATH"]))
        surroundings = {**ours, "PATH": path, "PYTHONNOUSERSITE": "1", "NO_COLOR": "1", **more}
        words = shlex.split(command) if isinstance(command, str) else command
        return subprocess.run(
            words, cwd=folder, env=surroundings, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )

    def must(self, command: str | list[str], folder: Path, **more: str) -> str:
        """Run a command that must succeed; gives what it printed."""
        done = self.run(command, folder, **more)
        if done.returncode:
            raise AssertionError(f"{command}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout


def stand_ins(folder: Path) -> Path:
    """The files that pages and commands speak of."""
    city = City(people=60, days=3)
    city.write(folder / "demo")
    visits, places = city.visits(), city.places()
    pq.write_table(visits.rename_columns(["uid", "at", "venue", "lat", "lon"]), folder / "checkins.parquet")
    of_the_club = visits.select(["user", "location", "time"]).rename_columns(["member", "shop", "entered"])
    pyarrow.csv.write_csv(of_the_club, folder / "checkins.csv")
    shops = places.select(["location", "name"]).rename_columns(["shop", "title"])
    pyarrow.csv.write_csv(shops, folder / "shops.csv")
    book = openpyxl.Workbook()
    book.active.append(["user", "location"])
    for row in visits.select(["user", "location"]).to_pylist():
        book.active.append(list(row.values()))
    book.save(folder / "visits.xlsx")
    return folder


class Trial:
    """The environments, and what is tried in them."""

    def __init__(self, folder: Path, pool: ThreadPoolExecutor) -> None:
        """Make the environments, in a folder for all that is made."""
        self.folder = folder
        [self.released] = (ROOT / "dist").glob("locentropy-*.whl")
        [source] = (ROOT / "dist").glob("locentropy-*.tar.gz")
        shutil.unpack_archive(source, folder / "source", filter="data")
        [self.clone] = (folder / "source").iterdir()
        pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder / "plain", self.clone)
        [plain] = (folder / "plain").glob("*.whl")
        self.opened = _openers(folder / "openers")
        wanted = {f"locentropy[{extra}]" for extra in EXTRAS}.union(*map(needed, pages()))
        made = {"": pool.submit(Environment.made, folder / "alone", plain, "")}
        for number, needs in enumerate(sorted(wanted - {""})):
            made[needs] = pool.submit(Environment.made, folder / f"more-{number}", self.released, needs)
        self.environments = {needs: each.result() for needs, each in made.items()}
        self.alone = self.environments[""]

    def folder_for(self, what: str) -> Path:
        """A new folder to work in, with the files that commands speak of."""
        made = self.folder / "work" / what
        made.mkdir(parents=True)
        return stand_ins(made)

    def page(self, page: Path) -> None:
        """Follow a page. One that makes an invented city itself begins without one."""
        folder, shown = self.folder_for(page.stem), snippets(page.read_text())
        told = page.relative_to(ROOT).as_posix() in TOLD
        if told and any("locentropy demo" in each.text for each in shown):
            shutil.rmtree(folder / "demo")
        programs = {needs: each.programs for needs, each in self.environments.items()} if told else {}
        reader = ["python", "-P", str(ROOT / "tests" / "pages.py"), str(page), json.dumps(programs)]
        self.environments[for_python(page)].must(reader, folder)

    def ways(self) -> None:
        """One release by each way to choose places that needs no extra."""
        folder = self.folder_for("ways")
        for name, options in WAYS.items():
            command = f"locentropy publish demo/visits.parquet {options} {PUBLISHED.format(name=name)}"
            self.alone.must(command, folder)
            self.alone.must(f"locentropy verify {name}", folder)

    def extra(self, extra: str) -> None:
        """What an extra is for works with it, and without it says what is missing; what comes of it needs no extra."""
        folder = self.folder_for(extra)
        for name, command in OF_EXTRAS[extra].items():
            whole = f"locentropy {command} {PUBLISHED.format(name=name)}"
            refused = self.alone.run(whole, folder)
            assert f"pip install 'locentropy[{extra}]'" in refused.stderr, refused
            assert refused.returncode != 0
            self.environments[f"locentropy[{extra}]"].must(whole, folder)
            self.alone.must(f"locentropy verify {name}", folder)
            self.alone.must(f"locentropy report {name} --out {name}.html", folder)

    def plots(self) -> None:
        """The pictures of `evaluate` are drawn where the extra is, and asked for elsewhere."""
        folder = self.folder_for("plots")
        command = (
            f"locentropy evaluate demo/visits.parquet {LIST.split(' --prov')[0]} --mechanism moments --out "
        )
        without = self.alone.run(f"{command} without", folder)
        assert "pip install 'locentropy[plots]'" in without.stderr, without
        self.environments["locentropy[plots]"].must(f"{command} with", folder)
        [page] = folder.glob("with-PRIVATE/*.html")
        assert "<svg" in page.read_text()

    def documentation(self) -> None:
        """`locentropy docs` opens a file that is there: the site of a release, the pages of any other wheel."""
        for needs, first in (("", "docs/index.md"), ("locentropy[geo]", "site/index.html")):
            self.opened.write_text("")
            self.environments[needs].must("locentropy docs", self.folder)
            opened = Path(self.opened.read_text().strip().removeprefix("file://"))
            assert opened.is_file(), opened
            assert opened.as_posix().endswith(f"locentropy/{first}"), opened

    def make_demo(self) -> None:
        """What README shows first, in a clone of its own."""
        house = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(WHEELHOUSE), "PYTHON": sys.executable}
        self.alone.must(f"make demo PYTHON={sys.executable}", self.clone, **house)
        shown = self.alone.must(".venv/bin/locentropy docs --path", self.clone)
        assert Path(shown.strip()) == self.clone / "docs"


def _openers(folder: Path) -> Path:
    """Programs that open nothing on this machine, but note what they were to open."""
    folder.mkdir()
    noted = folder / "opened"
    for name in ("xdg-open", "open"):
        (folder / name).write_text(f"#!/bin/sh\necho \"$1\" > '{noted}'\n")
        (folder / name).chmod(0o755)
    return noted


def works(what: str, run: Callable[..., None], *arguments: object) -> bool:
    """Try a part, and tell how that went; the others are tried whatever comes of it."""
    began = time.monotonic()
    try:
        run(*arguments)
    except Exception as error:
        print(f"FAILED  {what}: {error}", flush=True)  # noqa: T201
        return False
    print(f"{time.monotonic() - began:6.1f} s  {what}", flush=True)  # noqa: T201
    return True


def parts(trial: Trial) -> Iterable[tuple[object, ...]]:
    """All that is tried, the longest first."""
    yield from ((f"follows {page.relative_to(ROOT)}", trial.page, page) for page in pages())
    yield "ways to choose places", trial.ways
    yield from ((f"the extra {extra}", trial.extra, extra) for extra in OF_EXTRAS)
    yield "the extra plots", trial.plots
    yield "make demo, in a clone", trial.make_demo
    yield "locentropy docs", trial.documentation


def main() -> None:
    """Try all parts, or those in whose names a word of the command line is."""
    words = sys.argv[1:] or [""]
    wheelhouse()
    with (
        tempfile.TemporaryDirectory(dir=WHEELHOUSE.parent) as folder,
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        trial = Trial(Path(folder), pool)
        chosen = [part for part in parts(trial) if any(word in str(part[0]) for word in words)]
        tried = [pool.submit(works, *part) for part in chosen]  # type: ignore[arg-type]
        done = [each.result() for each in tried]
    sys.exit(not all(done))


if __name__ == "__main__":
    main()
