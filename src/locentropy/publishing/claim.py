"""A claim on a directory: one process at a time, and a memory of what was paid for, across crashes.

    .city.publishing      beside the directory `city`, owner only: the ids of the spend and of the release

The file is on disk before the budget is spent and goes away when the release has its name. A retry that finds it
knows the spend that was made for it, so it does not spend again; and if the release is staged, its numbers are drawn,
so it does not draw again. If nothing was spent yet, nothing is kept.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from locentropy.core.errors import BudgetError, ReleaseError
from locentropy.privacy.guarantee import exact_text
from locentropy.privacy.ledger import new_id
from locentropy.release.files import finish, holds, stage, staged_path
from locentropy.release.statement import INFINITE, LedgerNote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from locentropy.privacy.guarantee import Guarantee
    from locentropy.privacy.ledger import Ledger
    from locentropy.release.release import Release


@dataclass
class Claim:
    """The right to publish into one directory, once."""

    target: Path
    release_id: str
    spend_id: str
    spent: bool = False
    """Whether the spend may have been made: from here on the claim must outlive this process."""

    @property
    def is_drawn(self) -> bool:
        """Whether an earlier attempt drew the numbers and put the release on disk, whole."""
        return staged_path(self.target, self.release_id).is_dir() or holds(self.target, self.release_id)

    def is_paid(self, ledger: Ledger) -> bool:
        """Whether an earlier attempt has spent for this release."""
        return any(spend.id == self.spend_id for spend in ledger.history())

    def pay(self, ledger: Ledger | None, guarantee: Guarantee, purpose: str) -> LedgerNote | None:
        """Spend for this release, unless an earlier attempt did; what the ledger says then."""
        earlier, self.spent = self.spent, True
        if ledger is None:
            return None
        try:
            spend = ledger.spend(guarantee, purpose, spend_id=self.spend_id)
        except BudgetError:
            self.spent = earlier  # refused, so nothing was spent now
            raise
        book = ledger.read()
        paid = [each for each in book.spends if each.number <= spend.number]
        finite = sum((each.epsilon or Fraction(0) for each in paid), Fraction(0))
        return LedgerNote(
            population=book.population,
            spend_id=spend.id,
            total_epsilon=exact_text(book.total.epsilon),
            total_delta=exact_text(book.total.delta),
            spent_epsilon=INFINITE if spend.epsilon is None else exact_text(finite),
            spent_delta=exact_text(sum((each.delta for each in paid), Fraction(0))),
        )

    def stage(self, release: Release) -> None:
        """Put a release on disk, whole, beside its directory."""
        stage(release, self.target)

    def finish(self, ledger: Ledger | None) -> None:
        """Give the staged release its name; to do so twice changes nothing."""
        if ledger is not None:
            ledger.record_release(self.spend_id, self.release_id, "staged")
        finish(staged_path(self.target, self.release_id), self.target)
        if ledger is not None:
            ledger.record_release(self.spend_id, self.release_id, "published")
        self.spent = False  # all is done: nothing to remember


@contextmanager
def claimed(target: Path, order: dict[str, str]) -> Iterator[Claim]:
    """Hold the claim on a directory: a new one, or that of an attempt at the same order that did not finish."""
    path = target.with_name(f".{target.name}.publishing")
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(handle, target)
        claim = _remembered(handle, path, target, order)
        if claim is None:
            claim = Claim(target, new_id(), new_id())
            _remember(handle, path, claim, order)
        try:
            yield claim
        finally:
            if not claim.spent:
                path.unlink()
    finally:
        os.close(handle)


def _lock(handle: int, target: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ReleaseError(
            f"Another process is publishing to {target} right now. Wait for it to end."
        ) from None


def _remembered(handle: int, path: Path, target: Path, order: dict[str, str]) -> Claim | None:
    content = os.pread(handle, 1 << 16, 0)
    if not content:
        return None
    try:
        memory = json.loads(content)
        claim = Claim(target, memory["release"], memory["spend"], spent=True)
    except (ValueError, KeyError, TypeError):
        return None  # cut off while it was written, so nothing was spent yet: the spend comes after it is on disk
    if memory["order"] != order:
        raise ReleaseError(
            f"{target}: an earlier attempt to publish something else there did not finish. Repeat that one "
            f"({memory['order']}), or choose another directory. What it spent stays spent; its memory is {path}."
        )
    return claim


def _remember(handle: int, path: Path, claim: Claim, order: dict[str, str]) -> None:
    memory = {"spend": claim.spend_id, "release": claim.release_id, "order": order}
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(memory).encode(), 0)
    os.fsync(handle)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
