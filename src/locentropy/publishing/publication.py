"""Publication: the right to publish into one directory, once, and what was already done under it.

    nothing begun      neither spent nor drawn: if the attempt fails now, nothing of it stays
    begun              spent, or about to be: it outlives the process, so that a retry does not spend again
    drawing            some draws are on disk: a retry is given these, and draws only what is missing (draws.py)
    measured           all noisy numbers are on disk: a retry computes the release from them and reads no visits
    staged             the release is on disk, complete: a retry gives it its name

One spend pays for one draw. The id of a release belongs to its draw: it is made when the draw is complete, and the
ledger records it with the spend before the release is computed, so a second draw for the same spend, by a copy of this
publication in another folder for example, is refused. How it is kept across crashes: publication_file.py.
"""

from __future__ import annotations

import os
import shutil
import warnings
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from shlex import quote
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import BudgetError, LedgerError, ParameterError, ReleaseError
from locentropy.core.levels import MAX_LEVELS
from locentropy.publishing.draws import DrawJournal, JournaledNoise, keep_measurements, kept_measurements
from locentropy.release.files import finish, holds, recover, stage, staged_path
from locentropy.release.reading import describe
from locentropy.release.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from locentropy.core.windows import Window
    from locentropy.ledger.ledger import Ledger
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.noise import OpenDPNoise
    from locentropy.release.measurements import KeptMeasurements
    from locentropy.release.release import Release
    from locentropy.release.statement import Statement

_LONGEST_NAME: Final = 255
"""Bytes, on every usual file system."""


class ResumedWarning(UserWarning):
    """The release is, in whole or in part, the one that an earlier, interrupted attempt had drawn."""


@dataclass
class Publication:
    """The right to publish into one directory, once."""

    target: Path
    spend_id: str
    release_id: str | None = None
    """The id of the draw; None until noise was drawn."""
    begun: bool = False
    """Whether something was spent or written, or may have been."""
    drawn: bool = False
    """Whether an earlier attempt had all its numbers on disk: for this spend there are no others."""
    remember_drawn: Callable[[str], None] = lambda release_id: None
    """Records on disk that all numbers are drawn, so that a retry knows it after a crash."""

    @property
    def _draws(self) -> Path:
        return self.target.with_name(f".{self.target.name}.{self.spend_id}.draws")

    @property
    def _measurements(self) -> Path:
        return self._draws.with_suffix(".measurements")

    def _of_level(self, number: int) -> Path:
        """The measurements of a further level, from 1; those of the first are in `_measurements`."""
        return self._draws.with_suffix(f".level{number}")

    @property
    def is_staged(self) -> bool:
        """Whether an earlier attempt put the complete release on disk."""
        if self.release_id is None:
            return False
        return staged_path(self.target, self.release_id).is_dir() or holds(self.target, self.release_id)

    @property
    def staged_statement(self) -> Statement | None:
        """What the complete release on disk says; None if there is none."""
        if self.release_id is None or not self.is_staged:
            return None
        staged = staged_path(self.target, self.release_id)
        return describe(staged if staged.is_dir() else self.target).statement

    def is_paid(self, ledger: Ledger) -> bool:
        """Whether an earlier attempt has spent for this release."""
        return any(spend.id == self.spend_id for spend in ledger.history())

    def was_begun(self, ledger: Ledger | None) -> bool:
        """Whether an earlier attempt has left anything: a spend, draws, the release, or the beginning of one."""
        ids = [each for each in (self.spend_id, self.release_id) if each is not None]
        left = [self.target.parent.glob(f".{escape(self.target.name)}.{each}.*") for each in ids]
        return any(map(any, left)) or self.is_staged or (ledger is not None and self.is_paid(ledger))

    def check_target(self) -> None:
        """Raise for a directory that could not take the release in the end, before anything is spent."""
        target = self.target
        if target.is_symlink() or (target.exists() and not (target.is_dir() and not any(target.iterdir()))):
            raise ReleaseError(
                f"{target} is already there and not an empty directory. If it is the release of an earlier call that "
                f"was stopped late, it is complete: see `locentropy verify {quote(str(target))}`. A release never "
                f"replaces another: for a further one, which spends again, choose a new name, for example {target}-2"
            )
        if target.is_mount():
            raise ReleaseError(
                f"{target} is a file system of its own. Name a directory in it: {target}/release"
            )

    def pay(
        self,
        ledger: Ledger | None,
        guarantee: Guarantee,
        purpose: str,
        windows: tuple[Window | None, ...] = (None,),
    ) -> None:
        """Spend for this release, for each of its parts, unless an earlier attempt did."""
        earlier, self.begun = self.begun, True
        if ledger is None:
            return
        try:
            ledger.spend(guarantee, purpose, spend_id=self.spend_id, window=windows)
        except (BudgetError, ParameterError):
            self.begun = earlier  # refused, so nothing was spent now; any other failure leaves that open
            raise

    @contextmanager
    def journaled_noise(self, read_as: Mapping[str, str | None]) -> Iterator[OpenDPNoise]:
        """Noise whose every draw is on disk before it is used; draws of an earlier attempt are not repeated."""
        with closing(DrawJournal(self._draws, read_as)) as journal:
            if journal.durable:
                warnings.warn(
                    f"An earlier attempt had begun to draw the release for {self.target}: what it drew is used as it "
                    "was.",
                    ResumedWarning,
                    stacklevel=5,
                )
            yield JournaledNoise(journal)

    @property
    def drawn_id(self) -> str:
        """The id of the draw; there is one as soon as it is complete."""
        if self.release_id is None:
            raise ReleaseError(f"{self.target}: nothing was drawn for it.")
        return self.release_id

    def keep(self, kept: tuple[KeptMeasurements, ...]) -> None:
        """Write the measurements of all levels to disk: from here on nothing else is drawn for this spend.

        Those of the first level are written last: if they are there, the others are.
        """
        first, *further = kept
        for number, each in enumerate(further, start=1):
            keep_measurements(each, self._of_level(number))
        keep_measurements(first, self._measurements)
        self.remember_drawn(first.release_id)
        self.drawn, self.release_id = True, first.release_id
        shutil.rmtree(self._draws, ignore_errors=True)

    def measurements(self) -> tuple[KeptMeasurements, ...] | None:
        """What an earlier attempt has measured, level by level, if it got that far."""
        first = kept_measurements(self._measurements)
        if first is None:
            return None
        self.release_id = first.release_id
        found = [first]
        while (further := kept_measurements(self._of_level(len(found)))) is not None:
            if further.release_id != first.release_id:
                raise ReleaseError(
                    f"{self._of_level(len(found))} is of another draw than {self._measurements}."
                )
            found.append(further)
        return tuple(found)

    def record_draw(self, ledger: Ledger | None) -> None:
        """Record this draw with its spend in the ledger, which refuses a second one."""
        if ledger is None or self.release_id is None:
            return
        try:
            ledger.record_release(self.spend_id, self.release_id, "staged")
        except LedgerError as error:
            if not self._drawn_elsewhere(ledger):
                raise
            error.add_note(
                "What was drawn here was seen by nobody, and is not published: another attempt has drawn for the same "
                "spend, in a copy of this folder for example. Finish that one. To give this one up, remove what "
                f"begins with .{self.target.name}. in {self.target.parent}"
            )
            raise

    def _drawn_elsewhere(self, ledger: Ledger) -> bool:
        with suppress(LedgerError):
            return any(
                known.spend == self.spend_id and known.release != self.release_id
                for known in ledger.releases()
            )
        return False

    def stage(self, release: Release, also: Sequence[str] = ()) -> None:
        """Write a release to disk, complete, beside its directory; `also` in further formats."""
        stage(release, self.target, also)

    def check_staged(self, *, measured: bool) -> None:
        """Remove files of an earlier attempt that are not complete any more, if they can be computed again.

        Version 0.1 kept no measurements: what it drew is in the files alone, some of which it may not have named yet.
        """
        if self.release_id is None:
            return
        if self.drawn and not measured and not self.is_staged:
            recover(self.target, self.release_id)
        staged = staged_path(self.target, self.release_id)
        if staged.is_dir() and not verify(staged).ok:
            if not measured:
                raise ReleaseError(
                    f"{staged}, which an earlier attempt has drawn, is not whole any more, and was not published. "
                    "Choose another directory; to publish there spends again, because numbers are drawn once for a "
                    "spend."
                )
            shutil.rmtree(staged)

    def refuse_second_draw(self, ledger: Ledger | None) -> None:
        """Raise if an earlier attempt has drawn: its files are gone from here, but may be elsewhere."""
        noted = ledger is not None and any(known.spend == self.spend_id for known in ledger.releases())
        if self.drawn or noted:
            raise ReleaseError(
                f"An earlier attempt has drawn the release for {self.target}, and it is no longer there. It is not "
                "drawn again for the same spend: two draws tell more than one. Put it back, or choose another "
                "directory; to publish there spends again."
            )

    def finish(self, ledger: Ledger | None) -> None:
        """Give the staged release its name. Calling it twice changes nothing."""
        self.record_draw(ledger)
        finish(staged_path(self.target, self.drawn_id), self.target)
        if ledger is not None:
            ledger.record_release(self.spend_id, self.drawn_id, "published")
        shutil.rmtree(self._draws, ignore_errors=True)
        self._measurements.unlink(missing_ok=True)
        for number in range(1, MAX_LEVELS):
            self._of_level(number).unlink(missing_ok=True)
        self.begun = False  # all is done: there is nothing left to resume


def check_name(target: Path) -> None:
    """Raise for a name that is not UTF-8, or too long for the names of the files written beside it."""
    try:
        str(target).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(target).decode(errors="backslashreplace")
        raise ReleaseError(
            f"{shown} is not UTF-8, so readers could not name it. Choose another name."
        ) from None
    if len(os.fsencode(f".{target.name}.{32 * '0'}.measurements.part")) > _LONGEST_NAME:
        raise ReleaseError(
            f"{target} has too long a name: longer ones are needed for the files beside it. Choose a shorter one."
        )
