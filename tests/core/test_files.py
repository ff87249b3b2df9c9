"""Files that appear together, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from locentropy.core.files import atomic_write, made_folder

if TYPE_CHECKING:
    from pathlib import Path


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def write_both(folder: Path) -> None:
    with atomic_write(folder / "a", folder / "b") as parts:
        for part in parts:
            part.write_text("new")


def test_both_appear(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "else").write_text("mine")
    write_both(tmp_path)
    assert contents(tmp_path) == {"a": "new", "b": "new", "else": "mine"}


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write_both(tmp_path)
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("before", [{}, {"a": "old"}])
def test_when_the_second_cannot_take_its_name_the_first_is_put_back(
    tmp_path: Path, before: dict[str, str]
) -> None:
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError):
        write_both(tmp_path)
    assert contents(tmp_path) == before


def test_a_folder_made_for_nothing_is_taken_away(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), made_folder(tmp_path / "x" / "y"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_stays(tmp_path: Path) -> None:
    def put_a_note_there_and_fail() -> None:
        with made_folder(tmp_path / "x" / "y"):
            (tmp_path / "x" / "note").write_text("mine")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put_a_note_there_and_fail()
    assert contents(tmp_path / "x") == {"note": "mine"}
