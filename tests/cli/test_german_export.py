"""The file that a data steward has: exported from a German Excel, and published with one correction."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

from tests.cli.running import in_process

NAMES = ["Café Müller", "Zoo", "Körnerpark", "Rathaus Schöneberg", "Bäckerei Groß"]
SPOTS = [
    (f"O-{number:02}", name, 52.48 + number / 500, 13.35 + number / 300)
    for number, name in enumerate(NAMES * 4)
]
COMMAND = "publish besuche.csv --epsilon 1 --no-ledger --out mai"


def german(number: float) -> str:
    return f"{number:.4f}".replace(".", ",")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = random.Random(1)
    visits = ["Kunde;Ort;Zeit;Breite;Länge"]
    for customer in range(60):
        for _ in range(draw.randint(1, 5)):
            place, name, lat, lon = draw.choice(SPOTS)
            time = f"{draw.randint(1, 31):02}.01.2026 {draw.randint(0, 23):02}:{draw.randint(0, 59):02}"
            visits.append(f"Kd. {customer};{name} ({place});{time};{german(lat)};{german(lon)}")
    places = ["Ort;Bezeichnung;Breite;Länge"]
    places += [f"{name} ({place});{name};{german(lat)};{german(lon)}" for place, name, lat, lon in SPOTS]
    for path, lines in (("besuche.csv", visits), ("orte.csv", places)):
        (tmp_path / path).write_bytes("".join(f"{line}\r\n" for line in lines).encode("cp1252"))
    return tmp_path


@pytest.mark.parametrize(
    "where",
    [
        "--places orte.csv --provenance Stadtkataster",
        "--places orte.csv --provenance Stadtkataster --window 2026-01 --time-zone as-written",
        "--grid 52.4,13.2,52.6,13.6 --cell 5000",
    ],
)
def test_published_with_one_command_and_one_correction(where: str, folder: Path) -> None:
    command = shlex.split(f"{COMMAND} {where}")
    refused = in_process(*command, cwd=folder)
    assert refused.returncode == 3, refused.stderr
    assert "(--encoding cp1252" in refused.stderr
    assert not (folder / "mai").exists()
    done = in_process(*command, "--encoding", "cp1252", cwd=folder)
    assert done.returncode == 0, done.stderr
    [released] = (folder / "mai").glob("release*.csv")
    told, _, protected = done.stderr.partition("Protected:")
    assert "Visits: read as cp1252, fields separated by semicolons; columns: user 'Kunde'" in told
    assert ("day first as in 31.01.2026 08:00" in told) == ("--window" in where), "else nothing uses times"
    assert "'Kunde'" in protected
    if "--places" in where:
        table = released.read_text()
        assert all(name in table for name in NAMES)
        assert "52.48" in table


def test_every_visit_was_read(folder: Path) -> None:
    """Not only without an error: times decide which places are first, coordinates which cells are visited."""
    here = "entropy besuche.csv --encoding cp1252 --json".split()
    whole = in_process(*here, cwd=folder)
    assert whole.returncode == 0, whole.stderr
    plain = (folder / "besuche.csv").read_text("cp1252")
    head, *rows = plain.splitlines()
    iso = [head.replace("Kunde;Ort;Zeit;Breite;Länge", "user,place,time,lat,lon")]
    for row in rows:
        customer, place, time, lat, lon = row.split(";")
        (day, clock), (lat, lon) = time.split(), (each.replace(",", ".") for each in (lat, lon))
        day = "-".join(reversed(day.split(".")))
        iso.append(f"{customer},{place},{day}T{clock},{lat},{lon}")
    (folder / "visits.csv").write_text("\n".join(iso) + "\n")
    again = in_process("entropy", "visits.csv", "--json", cwd=folder)
    assert again.stdout == whole.stdout
    bounded = ["--max-locations", "1", "--max-visits", "1", "--keep", "first"]
    first = [
        in_process(*each, *bounded, cwd=folder).stdout for each in (here, ["entropy", "visits.csv", "--json"])
    ]
    assert first[0] == first[1]


def test_a_list_in_another_encoding(folder: Path) -> None:
    (folder / "orte.csv").write_text((folder / "orte.csv").read_text("cp1252"), "utf-8")
    command = shlex.split(f"{COMMAND} --places orte.csv --provenance Stadtkataster --encoding cp1252")
    refused = in_process(*command, cwd=folder)
    assert refused.returncode == 2, "with other ids in the list, noise would be published"
    assert "--places-encoding utf-8" in refused.stderr
    done = in_process(*command, "--places-encoding", "utf-8", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Café Müller" in (folder / "mai" / "release.csv").read_text()


def test_a_list_of_text_beside_a_workbook(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (folder / "besuche.csv").read_text("cp1252").splitlines():
        book.active.append(line.split(";"))
    book.save(folder / "besuche.xlsx")
    command = shlex.split(COMMAND.replace(".csv", ".xlsx") + " --places orte.csv --provenance Stadtkataster")
    refused = in_process(*command, cwd=folder)
    assert "of the list alone --places-encoding cp1252" in refused.stderr
    refused = in_process(*command, "--encoding", "cp1252", cwd=folder)
    assert (refused.returncode, "(--places-encoding)" in refused.stderr) == (2, True)
    done = in_process(*command, "--places-encoding", "cp1252", cwd=folder)
    assert done.returncode == 0, done.stderr


def test_a_workbook_with_visits_and_places(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for sheet, path in (("Besuche", "besuche.csv"), ("Orte", "orte.csv")):
        page = book.create_sheet(sheet)
        for line in (folder / path).read_text("cp1252").splitlines():
            page.append(line.split(";"))
    book.save(folder / "mai.xlsx")
    command = shlex.split("publish mai.xlsx --epsilon 1 --no-ledger --out mai --places mai.xlsx --decimal ,")
    for missing in ([], ["--table", "Besuche"], ["--places-table", "Orte"]):
        refused = in_process(*command, *missing, cwd=folder)
        assert refused.returncode == 2, "the list might be the table of visits"
        assert "--places-table places" in refused.stderr
    done = in_process(*command, "--table", "Besuche", "--places-table", "Orte", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Café Müller" in (folder / "mai" / "release.csv").read_text()


def test_times_that_nothing_uses_are_not_read(folder: Path) -> None:
    """Day or month first is asked only where it matters: for a window, or to find the first places of a person."""
    lines = (folder / "besuche.csv").read_text("cp1252").replace(".01.2026", "/01/2026")
    (folder / "besuche.csv").write_text(lines, "cp1252")
    command = shlex.split(f"{COMMAND} --places orte.csv --provenance x --encoding cp1252")
    for uses in (
        "--window 2026-01 --time-zone as-written",
        "--time Zeit",
        "--mechanism moments --max-locations 2 --max-visits 2",
    ):
        refused = in_process(*command, *shlex.split(uses), cwd=folder)
        assert refused.returncode == 5, uses
        assert "--time-format '%d/%m/%Y %H:%M'" in refused.stderr
    done = in_process(*command, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Zeit" not in done.stderr


def test_further_formats(folder: Path) -> None:
    command = shlex.split(f"{COMMAND} --places orte.csv --provenance x --encoding cp1252")
    unknown = in_process(*command, "--also", "shp", cwd=folder)
    assert (unknown.returncode, "geojson, gpkg" in unknown.stderr) == (2, True)
    done = in_process(*command, "--also", "geojson,gpkg", "--csv-for-excel", cwd=folder)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in (folder / "mai").iterdir()}
    assert {"release.geojson", "release.gpkg", "release-excel.csv"} <= made
    assert in_process("verify", "mai", cwd=folder).returncode == 0


def test_nothing_is_spent_on_a_map_without_places(folder: Path) -> None:
    (folder / "ids.csv").write_text("Ort\nZoo (O-01)\n")
    done = in_process(
        *shlex.split(f"{COMMAND} --places ids.csv --encoding cp1252 --also geojson"), cwd=folder
    )
    assert done.returncode == 2
    assert "no coordinates" in done.stderr
    assert not (folder / "mai").exists()
