"""manifest.yaml: the guarantee and how it is kept, in the fields of the OpenDP Deployments Registry.

It must read as a true and complete statement for readers who have only this file. The registry's schema allows no
fields of our own; those are in details.yaml.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Any, Final

from locentropy.core.cell_kinds import CELL_KINDS, public_words
from locentropy.core.language import ENGLISH
from locentropy.core.window_split import split
from locentropy.privacy.guarantee import exact_text
from locentropy.privacy.units import neighbours, period_of
from locentropy.release.count_words import bounds_words, counts_words, has_counts
from locentropy.release.error_rule import stated_in_words
from locentropy.release.ledger_notes import note_words
from locentropy.release.level_words import NOT_ADDITIVE, levels_words
from locentropy.release.signal import signal_words
from locentropy.release.statement import NOT_PRIVATE, UNSAID

if TYPE_CHECKING:
    from locentropy.core.language import Words
    from locentropy.privacy.guarantee import Guarantee
    from locentropy.release.statement import Statement

VARIANTS: Final = {"pure": "Pure DP", "approximate": "Approximate DP", "none": "Custom"}

_UNITS: Final = {
    "person": "Person",
    "person-day": "Person and day",
    "person-week": "Person and week",
    "person-month": "Person and month",
}

TUNED: Final = ENGLISH("tuned")


def manifest(statement: Statement) -> dict[str, Any]:
    """The registry's entry. Its editors set tier and status; until then it is a draft."""
    return {
        "url_slug": f"locentropy-{statement.release_id}",
        "tier": 3,
        "status": "Draft",
        "deployment": {
            "basic": _basic(statement),
            "dp_variant": _variant(statement),
            "privacy_loss": _loss(statement),
            "deployment_model": _model(statement),
            "accounting": {
                "post_processing": _post_processing(statement),
                "composition": _composition(statement),
            },
            "implementation": _implementation(statement),
            "administrative": {"registry_authors": [statement.curator], "notes": _notes(statement)},
        },
    }


def heading(statement: Statement) -> str:
    """The first lines of both documents."""
    if statement.private:
        stated = statement.guarantee
        return f"The privacy guarantee of this release. {stated.explain_strength()} {stated.explain()}"
    return (
        f"{NOT_PRIVATE}. This release has no guarantee for the people in the data and must not be published.\n"
        f"Why: {'; '.join(statement.guarantee.reasons)}."
    )


def ledger_words(statement: Statement, say: Words = ENGLISH) -> str:
    """What the ledger says about the people's budget, or that there is none."""
    note = statement.ledger
    return say("ledger.none") if note is None else note_words(note, say)


def checked_words(statement: Statement, say: Words = ENGLISH) -> str:
    """That the owner compared the input with the exact data before; empty where no ledger says so."""
    note = statement.ledger
    return say("checked") if note is not None and note.input_checked else ""


def window_words(statement: Statement, say: Words = ENGLISH) -> str:
    """Which visits were read; empty where all were."""
    if statement.window is None:
        return ""
    return say("window", visits=statement.window.in_words(say), split=_split_words(statement, say))


def _split_words(statement: Statement, say: Words) -> str:
    """What rows are about where there are several windows, and how each is measured; empty where there is one."""
    if statement.windows is None:
        return ""
    count = len(split(statement.window, statement.windows))
    measured = say("split.measured", of=period_of(statement.guarantee.unit) or "person")
    return say("split", of=statement.windows, count=str(count)) + measured


def unit_words(statement: Statement) -> str:
    """What of a person is protected, present or absent, and what is not covered beyond it."""
    period = period_of(statement.guarantee.unit)
    if period is None:
        return (
            f"One person's whole record in the table, present or absent: all visits under {person_words(statement)}, "
            "at all places and times."
        )
    return (
        f"All that one person did in one {period}, present or absent: all visits under {person_words(statement)}, at "
        f"all places, that began in it. What somebody did in several {period}s is protected by the sum of what was "
        "published about them: see composition."
    )


def in_concentrated_terms(statement: Statement) -> bool:
    """Whether the release is paid for in ρ, and has it: not where that fails with a probability of its own."""
    counted = statement.ledger is not None and statement.ledger.composition == "concentrated"
    return counted and statement.guarantee.rho is not None and statement.guarantee.rho_delta == 0


def variant_name(statement: Statement) -> str:
    """The registry's name of the kind of guarantee."""
    return "Zero-concentrated DP" if in_concentrated_terms(statement) else VARIANTS[statement.guarantee.kind]


def parameters(statement: Statement) -> dict[str, float]:
    """ε, δ and, where it is counted, ρ."""
    rho = statement.guarantee.rho
    stated = numbers(statement.guarantee)
    return (
        stated | {"rho": _not_below(rho)} if rho is not None and in_concentrated_terms(statement) else stated
    )


def estimand_words(statement: Statement, say: Words = ENGLISH) -> str:
    """Which entropy the values estimate."""
    return say("estimand", of=statement.estimand)


def places_words(statement: Statement, say: Words = ENGLISH) -> str:
    """Where the list of places comes from, with the owner's words if there are any."""
    source, words = say.stored("source", statement.locations_source), statement.locations_provenance
    if words == statement.locations_source:
        return source
    return (
        say("origin.unsaid", source=source) if words == UNSAID else say("origin", source=source, words=words)
    )


def grouped_words(statement: Statement, say: Words = ENGLISH) -> str:
    """What was done to groups of places, before anything was counted; empty where places are published."""
    if statement.levels:
        return levels_words(statement, say)
    return "" if statement.grouped_by is None else say("grouped", column=statement.grouped_by)


def proof_words(statement: Statement, say: Words = ENGLISH) -> str:
    """Who proves the guarantee, and where."""
    proof = say.stored("proof", statement.method.proof)
    if statement.built_in:
        return say("proof.levels" if statement.levels else "proof", proof=proof)
    return say("proof.other", mechanism=statement.mechanism, proof=proof)


def person_words(statement: Statement, say: Words = ENGLISH) -> str:
    """Who one person is: an id, and of which column."""
    column = statement.user_column
    return say("person") if column is None else say("person.column", column=repr(column))


def existence_words(statement: Statement, say: Words = ENGLISH) -> str:
    """What decides whether there is a release at all, which no guarantee covers."""
    dropped = statement.parameters.get("bad_rows") == "drop"
    empty = say("existence.empty") if statement.refuse_empty else ""
    return say("existence", of="drop" if dropped else "fail", empty=empty)


def numbers(guarantee: Guarantee) -> dict[str, float]:
    """ε and, where there is one, δ; empty without a guarantee."""
    if guarantee.epsilon is None:
        return {}
    delta = {"delta": _not_below(guarantee.delta)} if guarantee.delta else {}
    return {"epsilon": _not_below(guarantee.epsilon)} | delta


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _not_below(value: Fraction) -> float:
    """The nearest float that is not below the number, so that no loss is understated."""
    near = float(value)
    return near if Fraction(repr(near)) >= value else nextafter(near, inf)


def _basic(statement: Statement) -> dict[str, Any]:
    mark = "" if statement.private else f"{NOT_PRIVATE}: "
    basic = {
        "name": mark + statement.title,
        "data_curators": [statement.curator],
        "description": f"{mark}{statement.description} {_subject(statement)}",
        "intended_use": statement.intended_use if statement.private else f"{mark}not for publication.",
        "data_product_type": "Summary statistics",
        "data_product_region": statement.region,
        "publication_date": statement.publication_date or "unset",
    }
    return basic | ({"data_product_sector": statement.sector} if statement.sector else {})


def _subject(statement: Statement) -> str:
    counted = f" {words}" if (words := counts_words(statement)) else ""
    levels = (
        f" There is one such table for each of {len(statement.levels)} levels. {NOT_ADDITIVE}"
        if statement.levels
        else ""
    )
    silent = signal_words(statement.signal, statement)
    return (
        f"{silent}{' ' * bool(silent)}One row per location, with an estimate of its location entropy: the entropy of "
        "how its visits are shared among its visitors, which is high where many people visit about equally often. "
        f"{estimand_words(statement)}"
        f"{counted}{levels}"
    )


def _variant(statement: Statement) -> dict[str, str]:
    return {
        "variant_name": variant_name(statement),
        "data_domain": "A table of visits, each by one user to one location. "
        f"{_sentence(neighbours(statement.guarantee.unit))}.",
        "unprotected_quantities": _unprotected(statement),
    }


def _unprotected(statement: Statement) -> str:
    if not statement.private:
        return f"Everything: no quantity in the data is protected. Locations: {places_words(statement)}."
    known = [str(public) for public in statement.guarantee.public_inputs if public.name != "locations"]
    parts = [f"Taken as public and not protected: the parameters ({'; '.join(known) or 'none'})"]
    if statement.locations_source.startswith("private selection"):
        parts.append(
            f"which locations appear was itself chosen privately, at a cost that the total includes "
            f"({places_words(statement)})"
        )
    else:
        further = ", ".join(map(repr, statement.listed_columns))
        columns = f" and its columns {further}, published as they are" if further else ""
        parts.append(
            f"the {public_words(statement.locations_source, 'list of locations')} with names, coordinates and "
            f"attributes, where given{columns} "
            f"({places_words(statement)})"
        )
    parts.append(
        "that the data exists and that this release was made, and all words of the owner in this file"
    )
    return f"{'; '.join(parts)}. {existence_words(statement)}"


def _loss(statement: Statement) -> dict[str, Any]:
    guarantee = statement.guarantee
    loss: dict[str, Any] = {
        "privacy_unit": _UNITS[guarantee.unit] if guarantee.private else "None",
        "privacy_unit_details": (
            f"{unit_words(statement)} A person under several ids is protected for each of them alone."
            if guarantee.private
            else "There is no guarantee for anybody."
        ),
    }
    if guarantee.epsilon is not None:
        loss["privacy_parameters"] = parameters(statement)
        loss["privacy_parameters_details"] = (
            f"Exactly ε = {exact_text(guarantee.epsilon)}, δ = {exact_text(guarantee.delta)}, for the whole release: "
            f"which locations appear and all their values. {guarantee.explain_strength()} {guarantee.explain()} "
            f"{guarantee.explain_groups()}"
        )
    else:
        loss["privacy_parameters_details"] = (
            f"{NOT_PRIVATE}: {'; '.join(guarantee.reasons)}. {guarantee.explain()}"
        )
    return loss


def _model(statement: Statement) -> dict[str, str]:
    return {
        "model_name": "Central",
        "model_name_details": "The curator holds the visits and is trusted with them; others see the release only.",
        "actors": f"Curator: {statement.curator}. Readers: anybody.",
        "release_type": "One release" if statement.window is None else "Many releases",
        "release_type_details": ledger_words(statement),
        "data_source_type": "Static",
        "data_source_type_details": f"The table as it was when it was read, once. {window_words(statement)}".strip(),
        "access_type": "Non-interactive",
        "access_type_details": f"Files: a table (Parquet, CSV){' for each level' if statement.levels else ''}, a page "
        "(report.html), this manifest, and details.yaml.",
    }


def _post_processing(statement: Statement) -> str:
    top = (
        f"between 0 and ln({statement.max_users}), the most that max_users = {statement.max_users} people can make"
        if statement.max_users
        else "from below at 0"
    )
    bits = " Entropies and their errors are given in bits." if statement.entropy_unit == "bits" else ""
    return (
        f"{statement.method.post_processing} {top}; effective_visitors is e to the power of the published entropy in "
        f"nats.{bits} {_rule(statement)}{_smoothing(statement)}None of this looks at the data again. "
        f"{statement.method.rounding}{_leaning(statement)}"
    )


def series_words(statement: Statement, say: Words = ENGLISH) -> str:
    """Which earlier releases the values lean on, or were to lean on; empty where there are none."""
    note = statement.series or statement.without_series
    if note is None:
        return ""
    return say(
        "series" if statement.series is not None else "series.without",
        number=str(note.number),
        id=note.series_id,
        previous=note.previous,
        earlier=str(note.number - 1),
    )


def _smoothing(statement: Statement) -> str:
    words = series_words(statement)
    return f"{words} " if words else ""


def _rule(statement: Statement) -> str:
    words = stated_in_words(statement)
    return f"{words} " if words else ""


def _leaning(statement: Statement) -> str:
    """Which public attributes the values were computed with, and what each explained."""
    if not statement.attributes:
        return ""
    explained = {
        effect.name: f" (it explains {100 * effect.explained:.0f} % of the spread)"
        for effect in statement.leans_on
    }
    named = ", ".join(f"{name}{explained.get(name, '')}" for name in statement.attributes)
    if statement.locations_source.startswith(CELL_KINDS):
        return f" Values lean on cells nearby; where cells are is public and never comes from the visits: {named}."
    return f" Values lean on attributes, which come from the public list and never from the visits: {named}."


def _composition(statement: Statement) -> str:
    guarantee = statement.guarantee
    if guarantee.epsilon is None:
        cost = "Nothing adds up: no ε describes this release."
    else:
        in_rho = statement.ledger is not None and statement.ledger.composition == "concentrated"
        rule = "Sums of ρ, converted to (ε, δ) for the whole budget" if in_rho else "Plain sums of ε and of δ"
        rho, failing = guarantee.concentrated_cost
        up_to = f", but for a probability of {exact_text(failing)}" if failing else ""
        in_terms = f" That is ρ = {exact_text(rho)}{up_to}." if in_rho else ""
        cost = (
            f"{rule}, which hold also when a later release is chosen after seeing earlier ones. This "
            f"release, the choice of locations included, costs ε = {exact_text(guarantee.epsilon)}, "
            f"δ = {exact_text(guarantee.delta)}.{in_terms}"
        )
    parts = (
        " That is the sum of what its levels cost, which are measured one after another on the same visits."
        if statement.levels
        else ""
    )
    return f"{cost}{parts} {ledger_words(statement)}"


def _selection_words(statement: Statement) -> str:
    """What came before the mechanism, where places were selected: its own budget and bound are in the source."""
    if not statement.locations_source.startswith("private selection ("):
        return ""
    bounds = " and bounds" if statement.estimand == "bounded" else ""
    return (
        f"First a {statement.locations_source}: each place is named by a coin whose chance rises with the number of "
        "its users, who for this count in at most that many locations. "
        f"Then, at its own ε{bounds}, "
    )


def _implementation(statement: Statement) -> dict[str, str]:
    given = "; ".join(f"{name} = {value}" for name, value in statement.parameters.items()) or "none"
    return {
        "preprocessing_and_hyperparameter_tuning": f"{_bounding(statement)} {_tuning(statement)} "
        f"{checked_words(statement)}".rstrip(),
        "mechanisms": (
            f"{_selection_words(statement)}{_level_first(statement)}{_mechanism_words(statement)}, with "
            f"{given}. {statement.method.summary}"
        ),
        "justification": (
            f"{_noise_words(statement)} {proof_words(statement)} {statement.guarantee}"
            if statement.private
            else str(statement.guarantee)
        ),
    }


def _level_first(statement: Statement) -> str:
    """At which level the mechanism that follows has these parameters, where there are several."""
    return "" if statement.level is None else f"{levels_words(statement)}At the level {statement.level}: "


def _noise_words(statement: Statement) -> str:
    noise = "OpenDP's discrete noise from the operating system's randomness"
    if statement.built_in:
        return f"Counts are integers, and noise is {noise}."
    return f"locentropy gave the mechanism integer counts and {noise}."


def _mechanism_words(statement: Statement) -> str:
    if statement.built_in:
        return f"{statement.mechanism} of locentropy {statement.software_version}"
    return f"{statement.mechanism}, run by locentropy {statement.software_version}"


def _bounding(statement: Statement) -> str:
    given = statement.parameters
    listed = not statement.locations_source.startswith(("private selection", "unprotected selection"))
    outside = public_words(statement.locations_source, "list")
    first = (
        f"Visits to places outside the {outside} are left out before anything is counted. " if listed else ""
    )
    first = window_words(statement) + first + grouped_words(statement)
    if given.get("bad_rows") == "drop":
        first = (
            "Rows that break a rule fixed beforehand (no id, a time that is none, and the like) are left out; how "
            f"many is not told. {first}"
        )
    missing = _missing_words(given.get("missing_ids"), given.get("missing_id_words"))
    first = f"{missing}{_id_words(given.get('ids'))}{first}"
    if statement.estimand == "true":
        cut = "Nobody's visits are cut: no bound on places or visits is applied"
        if statement.locations_source.startswith("private selection"):
            # The selection counts people under a bound of its own.
            first += "To select places, people are bounded. After that, visits to other places are left out. "
        if has_counts(statement.method):
            bounds = bounds_words(statement)
            return f"{first}For entropies: {cut[0].lower()}{cut[1:]}. For visitors and visits: {bounds}."
        return f"{first}{cut}."
    if not {"max_locations", "max_visits"} <= set(given):
        return f"{first}Each person is cut to the bounds of the mechanism."
    keep = f" (kept: {given['keep']})" if "keep" in given else ""
    return (
        f"{first}Each person counts in at most {given['max_locations']} locations{keep}, with at most "
        f"{given['max_visits']} visits in each."
    )


def _id_words(ids: str | None) -> str:
    """How ids were compared, where two that differ can be one."""
    if ids is None:
        return ""
    how = {"trim": "blanks at either end do not count", "fold": "capital letters count as small ones"}
    rules = " and ".join(words for rule, words in how.items() if rule in ids.split(","))
    return f"Ids of people and places are compared as texts, where {rules} (--ids {ids}). "


def _missing_words(missing_ids: str | None, words: str | None) -> str:
    """What was done with rows without a user id; releases of version 0.1 do not say."""
    if missing_ids == "drop":
        further = "" if words is None else f", and what the owner named: {words}"
        return (
            f"Rows without a user id (empty, nan, NULL, None, NA, n/a{further}) are left out, each by itself; how many "
            "is not told. "
        )
    if missing_ids == "keep":
        return (
            "The owner says that user ids such as nan, NULL, None, NA and n/a are ids of people: all rows of such an "
            "id count as those of one person. "
        )
    return ""


def _tuning(statement: Statement) -> str:
    if statement.tuned_unaccounted:
        return (
            f"Beware: {TUNED}. The exact data was evaluated without budget, so the parameters themselves may tell "
            "something about it that the guarantee does not cover."
        )
    if statement.ledger is not None:
        return "The ledger records no evaluation on the exact data before this release."
    return "Whether the exact data was used to choose parameters is not recorded anywhere."


def _notes(statement: Statement) -> str:
    expected = (
        f" Expected error, from public numbers: {statement.expected_error}"
        if statement.expected_error
        else ""
    )
    return (
        f"Release {statement.release_id}, made by locentropy {statement.software_version}. Bounds, columns and the "
        f"fingerprints of the files are in details.yaml; `locentropy verify` compares them. Tier and status are for "
        f"the registry's editors to set.{expected}"
    )
