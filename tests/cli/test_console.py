"""What is said on a terminal, and where it goes elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from locentropy.cli.console import print_text

SENTENCE = "The guarantee is strong: whether one person is left out hardly changes any outcome."
COMMAND = "To check them, in the folder of the release: locentropy verify may --ledger city.ledger"

OPTION = 'If they are local times of the city: time_type="local" (--time-type local).'


def said(text: str, *, terminal: bool) -> list[str]:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=40, color_system=None)
    print_text(text, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_sentences_break_between_words_on_a_terminal() -> None:
    lines = said(SENTENCE, terminal=True)
    assert len(lines) == 3
    assert " ".join(line.strip() for line in lines) == SENTENCE
    assert all(len(line) <= 40 for line in lines)


@pytest.mark.parametrize(("text", "terminal"), [(COMMAND, True), (OPTION, True), (SENTENCE, False)])
def test_commands_options_and_what_programs_read_stay_whole(text: str, terminal: bool) -> None:
    assert said(f"{text}\n{text}", terminal=terminal) == [text, text]
