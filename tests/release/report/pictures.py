"""The pictures of a release's page in `docs/images`, taken anew: `make pictures`."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from locentropy import PublicLocations, Shares, Visits, publish
from locentropy.datasets.city import City

from .browsing import Opened, chromium, opened

IMAGES = Path(__file__).parents[3] / "docs" / "images"
PEOPLE, PLACES = 20_000, 3000
COLOURS = 128
POINTED_AT = 0.62, 0.47
"""Near a dot, as parts of the map."""


def published(folder: Path) -> Path:
    """The page of a release of an invented city."""
    City(people=PEOPLE, places=PLACES, seed=0).write(folder)
    places = PublicLocations(
        folder / "places.csv",
        provenance="made with the city, before any visit",
        publish_columns=["kind", "opens", "closes", "district"],
    )
    publish(
        Visits(folder / "visits.parquet"), Shares(epsilon=1.0), places, out=folder / "release", ledger=None
    )
    return folder / "release" / "report.html"


def scroll_to(view: Opened, heading: str) -> None:
    view.page.get_by_role("heading", name=heading, exact=True).evaluate(
        "heading => scrollTo(0, heading.getBoundingClientRect().top + scrollY - 12)"
    )
    view.settle()


def take(view: Opened, name: str, *, height: int | None = None) -> None:
    """A picture of the window, or of the upper part of it, in few colours: readers load it with the page."""
    size = view.page.viewport_size
    clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"]}
    taken = Image.open(BytesIO(view.page.screenshot(clip=clip)))
    taken.convert("RGB").quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)


def main() -> None:
    with TemporaryDirectory() as folder, chromium() as browser:
        page = published(Path(folder))
        with opened(browser, page) as view:
            scroll_to(view, "Map")
            x, y = POINTED_AT
            view.point(x * view.canvas["width"], y * view.canvas["height"])
            take(view, "report-map", height=665)
        with opened(browser, page, color_scheme="dark") as view:
            scroll_to(view, "Places, ranked")
            take(view, "report-dark")
        with opened(browser, page, "phone") as view:
            scroll_to(view, "Map")
            take(view, "report-phone")


if __name__ == "__main__":
    main()
