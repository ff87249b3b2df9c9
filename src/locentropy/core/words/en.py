"""English: the language of every file of a release, and of its page unless another is chosen.

The other languages have the same keys, with the same {names} in each text. Keys of `stored` are texts that releases
keep as they are: where one is worded anew elsewhere, the new text is added here and the old one stays, for releases of
earlier versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from locentropy.core.language import Text

DECIMAL, THOUSANDS = ".", ","
DAY = "%Y-%m-%d"


def plural(number: int) -> str:
    """1 place, 2 places."""
    return "one" if number == 1 else "other"


WORDS: Final[dict[str, Text]] = {
    # --- small words that are used in several places
    "and": "{first} and {last}",
    "mark": "NOT PRIVATE",
    "unit": {"nats": "nats", "bits": "bits"},
    "places": {"one": "{n} place", "other": "{n} places"},
    "things": {
        "place.one": "{n} place",
        "place.other": "{n} places",
        "zone.one": "{n} zone",
        "zone.other": "{n} zones",
        "cell.one": "{n} cell",
        "cell.other": "{n} cells",
        "group.one": "{n} group of places",
        "group.other": "{n} groups of places",
        "list.one": "{n} location",
        "list.other": "{n} locations",
    },
    "in_data": {
        "person": "in the data",
        "day": "in the data of one day",
        "week": "in the data of one week",
        "month": "in the data of one month",
    },
    "in_every": {"day": "in every day", "week": "in every week", "month": "in every month"},
    # --- the head of the page
    "page.skip": "Skip to the list",
    "page.footer": "Release {id}, made by locentropy {version}. This page loads nothing from the network.",
    "page.banner": "There is no privacy guarantee for the people in the data. This page can reveal where they were: "
    "do not publish it or pass it on.",
    "page.plain": "This page could not be drawn. The numbers are in the table beside it, and the privacy guarantee "
    "in the manifest.",
    "facts.published_by": "published by {curator}",
    "facts.withheld": "{n} of them withheld",
    "facts.uncertain": "{n} of them not shown: too uncertain",
    # --- the promise above the map
    "promise.none": "Nothing is guaranteed to the people whose visits this was made from.",
    "promise.private": "Differentially private, {numbers}: {strength}",
    "promise.link": "What that means",
    "promise.every": {
        "day": "This is for each day; for somebody there in every day, all releases together: {numbers}. ",
        "week": "This is for each week; for somebody there in every week, all releases together: {numbers}. ",
        "month": "This is for each month; for somebody there in every month, all releases together: {numbers}. ",
    },
    # --- the guarantee, in words that the other files have as well
    "strength.none": "Nothing is hidden by a guarantee: there is none.",
    "strength.large": "The noise hides hardly anything about one person: somebody who looks for a given person in "
    "these numbers can be practically certain of whether they are in the data, and may find out where they were.",
    "strength.changed": "The guarantee is {strength}: whether one person is left out changes the chance of any "
    "outcome by a factor of at most {factor}{on_top}.",
    "strength.on_top": ", and by δ = {delta} on top",
    "strength.word": {"strong": "strong", "moderate": "moderate", "weak": "weak"},
    "strength.sure": {
        "moderate": " Somebody who looks for a given person can become fairly sure of whether they are in the data.",
        "weak": " Somebody who looks for a given person can become nearly certain of whether they are in the data.",
    },
    "belief.none": "Nothing is promised: a release can make an attacker certain about one person.",
    "belief.present": "Somebody who thought it 50 % likely that a given person is {in_data} can, after seeing this "
    "release, think it {bounds}. {replaced}",
    "belief.replaced": "Between two possible records of one person (where they went, how often, with whom) the "
    "bound is twice ε: a belief of 50 % in one of the two can become {bounds}.",
    "belief.replaced_none": "Between two possible records of one person nothing is promised.",
    "belief.certain": "practically certain, or practically impossible",
    "belief.bounds": "at most {most} and at least {least} likely",
    "belief.bounds_but": "at most {most} and at least {least} likely, except with a probability of at most "
    "{exceptions} for either bound, when nothing is promised",
    "groups.none": "Nothing is promised to anybody.",
    "groups": "{numbers} is for one person being {in_data} or not. Between two possible records of one person, and "
    "for one of several people who share an id, it is {replaced}. For k people together, or one person under k ids, "
    "ε becomes k times as large{delta}.",
    "groups.delta": " and δ becomes δ·(e^(kε) − 1)/(e^ε − 1)",
    "numbers.none": "no bound at all",
    "stated.private": "Differentially private with {numbers}, for {protects}: {neighbours}.",
    "stated.none": "Not differentially private: {reasons}.",
    "stated.public": "Taken as public and not protected: {public}.",
    "stated.nothing": "nothing",
    "protects": {
        "person": "one user's whole record",
        "day": "all visits of one user in one day",
        "week": "all visits of one user in one week (Monday to Sunday)",
        "month": "all visits of one user in one calendar month",
    },
    "neighbours": {
        "person": "two tables are neighbours when one holds all visits of one more user (add or remove one user)",
        "day": "two tables are neighbours when one is the other without all visits of one user in one day (add or "
        "remove them)",
        "week": "two tables are neighbours when one is the other without all visits of one user in one week (Monday "
        "to Sunday) (add or remove them)",
        "month": "two tables are neighbours when one is the other without all visits of one user in one calendar "
        "month (add or remove them)",
    },
    # --- the section about the guarantee
    "guarantee.title": "The privacy guarantee",
    "guarantee.none": "There is none. Why: {reasons}.",
    "guarantee.lead": {
        "person": "These numbers were made from visits of people, and noise was added to hide each of them. "
        "{strength} To leave out a person is to leave out everything that is known about them: all their visits to "
        "all places.",
        "day": "These numbers were made from visits of people, and noise was added to hide each of them. {strength} "
        "To leave out a person is to leave out everything that is known about them in one day: all their visits to "
        "all places.",
        "week": "These numbers were made from visits of people, and noise was added to hide each of them. "
        "{strength} To leave out a person is to leave out everything that is known about them in one week: all "
        "their visits to all places.",
        "month": "These numbers were made from visits of people, and noise was added to hide each of them. "
        "{strength} To leave out a person is to leave out everything that is known about them in one month: all "
        "their visits to all places.",
    },
    "guarantee.lead_large": "These numbers were made from visits of people, and a little noise was added. {strength}",
    "guarantee.large_title": "A very large ε. ",
    "guarantee.large": "Above about {largest} a guarantee promises next to nothing. Treat these numbers as if no "
    "noise had been added.",
    "guarantee.each": {"day": "Each day: ", "week": "Each week: ", "month": "Each month: "},
    "guarantee.always": {
        "day": "Somebody there in every day: ",
        "week": "Somebody there in every week: ",
        "month": "Somebody there in every month: ",
    },
    "guarantee.all_together": "{numbers}, for all releases together.",
    "guarantee.for_one": "For one person this means: ",
    "guarantee.covers": "What it covers, and what it does not",
    "guarantee.is": "The guarantee is differential privacy with {numbers}, for {record}, present or absent, where a "
    "person is {person}. Smaller numbers protect more. It holds whatever else somebody knows, now or later.",
    "guarantee.record": {
        "person": "the whole record of a person",
        "day": "all that a person did in one day",
        "week": "all that a person did in one week",
        "month": "all that a person did in one month",
    },
    "guarantee.public": "Not protected, because it is public anyway: {public}.",
    "guarantee.chosen_privately": "that places were chosen privately, at a cost that is included",
    "guarantee.taken_from": {
        "list": "the list of places ({source})",
        "zones": "the map of zones ({source})",
        "cells": "the grid of cells ({source})",
    },
    "guarantee.existence": "Not protected either: that there is a release at all. {existence}",
    "guarantee.not": "Not guaranteed: that nothing can be learned about a place, or about people in general. A "
    "person with several user ids is protected for each of them alone.",
    "guarantee.beware": "Beware: {tuned}.",
    # --- what is said about a release, here and in its other files
    "tuned": "parameters tuned on the data, unaccounted",
    "checked": "Before this release its owner compared ids, dates and dropped rows with the exact data; no result was "
    "computed.",
    "person": "one user id",
    "person.column": "one id of the column {column}",
    "existence": {
        "fail": "A table that cannot be read, whose ids or times can be taken in two ways, or with a row that "
        "breaks a rule, is refused, and the rows of one person can be the reason: that this release exists tells "
        "that it was not so.{empty}",
        "drop": "Rows that break a rule were left out, but a table that cannot be read, or whose ids or times can "
        "be taken in two ways, is refused, and the rows of one person can be the reason: that this release exists "
        "tells that it was not so.{empty}",
    },
    "existence.empty": " This release would also have been refused if no visit had been at any of its places "
    "(refuse_empty).",
    "proof": "Proof of the guarantee: {proof}.",
    "proof.levels": "Proof of the guarantee: {proof}, and docs/proofs/levels.md for several levels.",
    "proof.other": "The guarantee is stated and proved by the author of {mechanism}, which is not part of "
    "locentropy, and was not checked by it. The author's proof: {proof}.",
    "estimand": {
        "bounded": "The values estimate the bounded entropy: that of the visits left after every person was cut to "
        "the bounds. It differs from the entropy of all visits, which nothing here estimates.",
        "true": "The values estimate the true entropy: that of all visits; no bound was applied.",
    },
    "origin.unsaid": "{source}; its origin is not stated",
    "origin": "{source}; the owner says: {words}",
    "grouped": "Places were grouped by their public {column}: a visit to any place of a group counts as a visit to "
    "the group, and a person at several of its places was at one location. Visits to places that are in no group "
    "are left out. ",
    "uncertain.rule": "Places whose standard error is above {limit} have no value in the table{counts}. {protection}",
    "uncertain.counts": ": no entropy, that is, and nothing that follows from it; counts stay",
    "uncertain.protection": "This is a function of noisy values: it costs no budget, and does not decide whether "
    "there is a release. Nor does it protect anybody: protection comes from the noise alone, and values that are "
    "left out can be computed again from the measurements, where these are published.",
    "uncertain.limit": {"nats": "{nats} nats", "bits": "{nats} nats ({bits} bits)"},
    "bounds.own": "each person is cut to the bounds of the mechanism",
    "bounds": "each person counts at no more than {places} places{keep}, and with no more than {visits} visits in "
    "each",
    "bounds.keep": " (kept: {keep})",
    "counts": "The columns visitors and visits are bounded counts with noise: {bounds}. Where people exceed that, "
    "true numbers are larger. So visitors_low and visits_low are lower bounds of the true numbers as well, but "
    "visitors_high and visits_high are no upper bounds of them.",
    # --- windows of time
    "window": "Only {visits}, were read. The window is public. {split}",
    "window.visits": "visits that began {span}{days}{hours}, {zone}",
    "window.day": "on {day}",
    "window.days": "from {first} to {last}, both included",
    "window.weekdays": ", on {days} only",
    "window.hours": ", when the clock shows {hours}",
    "window.hour": "{first} up to {last}",
    "window.or": " or ",
    "window.as_written": "as the times are written",
    "window.zone": "by the clock of {zone}",
    "window.zone_as_written": "as-written",
    "weekday": {
        "mon": "Monday",
        "tue": "Tuesday",
        "wed": "Wednesday",
        "thu": "Thursday",
        "fri": "Friday",
        "sat": "Saturday",
        "sun": "Sunday",
    },
    "weekday.short": {
        "mon": "mon",
        "tue": "tue",
        "wed": "wed",
        "thu": "thu",
        "fri": "fri",
        "sat": "sat",
        "sun": "sun",
    },
    "split": {
        "day": "It is cut into {count} windows of a day each, and a row is about a place in one of them. ",
        "week": "It is cut into {count} windows of a week each, and a row is about a place in one of them. ",
        "month": "It is cut into {count} windows of a month each, and a row is about a place in one of them. ",
    },
    "split.measured": {
        "person": "All rows are measured together: what a person can change is bounded once, over all places and "
        "windows. ",
        "day": "Each day is measured by itself, from its own visits, at the whole of the stated guarantee, which is "
        "about one day; and is charged to its own budget, and to that of somebody who is there in all. ",
        "week": "Each week is measured by itself, from its own visits, at the whole of the stated guarantee, which "
        "is about one week; and is charged to its own budget, and to that of somebody who is there in all. ",
        "month": "Each month is measured by itself, from its own visits, at the whole of the stated guarantee, "
        "which is about one month; and is charged to its own budget, and to that of somebody who is there in all. ",
    },
    "windows.label": "Window",
    "windows.all": "Windows",
    "windows.noscript": "Without scripts, this page shows one window only. The table beside it has all.",
    # --- levels
    "levels.label": "Level",
    "levels.all": "Levels",
    "levels.noscript": "Without scripts, this page shows one level only. The tables of every level are beside this "
    "page.",
    "levels.shown": "Level {name}: {consists}. It has {cost} of the budget of this release; the guarantee below is "
    "that of all levels together. {sums}",
    "levels": "This release has {count} levels: {levels}. Each is measured at its own part of the budget, on the "
    "same visits, and the parts add up to the whole. At every level a person's visits to all places of one location "
    "are visits to that location, and what the person can change is bounded there anew. ",
    "levels.one": "{name} ({consists}) at {cost}, by {mechanism}",
    "levels.consists": {
        "place": "each place of the public list by itself",
        "column": "places that agree in their public {name} are one location",
        "list": "all places of the public list are one location",
    },
    "levels.sums": "Entropy does not add up over levels. That of a district, say, is about its visitors as a whole: "
    "who was at three of its places is a visitor of three places, and one visitor of the district. So neither the "
    "entropies of its places nor their effective visitors add up to those of the district. Every level also has its "
    "own noise, so levels need not agree with each other.",
    # --- series
    "series.label": "Period",
    "series.all": "Periods",
    "series.noscript": "Without scripts, this page shows the latest period only.",
    "series.first": "{period}: the first release of this series, from its own measurements alone.",
    "series.shown": "{period}: release {number} of a series. Its values lean on its own measurements and on those "
    "published earlier, which costs no further privacy. Trend: each place over the periods, with the band of its 95 "
    "% intervals, all on one scale. A mark says rose, fell or closed where it is at least 95 % sure, by the model, "
    "that the number of visitors to be expected moved by more than a quarter (closed: fell to less than a tenth) "
    "since the period before or three periods ago, and more than that of all places did.",
    "series.not_shown": {
        "one": "An earlier release of this series is not shown on this page.",
        "other": "{n} earlier releases of this series are not shown on this page.",
    },
    "series": "This is release {number} of the series {id}, about the same places, and follows the release whose "
    "details have the SHA-256 {previous}. Values lean on the published measurements of all {earlier} earlier "
    "releases as well as on its own; entropy_alone on its own only. This is post-processing of published numbers: "
    "nobody's earlier visits were read again, and it costs no budget.",
    "series.without": "This was to be release {number} of the series {id}, after the release whose details have the "
    "SHA-256 {previous}, and was finished without that series: values lean on no earlier release, and no later release "
    "can follow this one.",
    # --- the ledger
    "ledger.none": "No ledger: this release was not counted against any budget of these people. Other releases "
    "about them add to what this one costs.",
    "ledger": "A ledger keeps count for this population: {population}. {account}{always}{counted} The spend of this "
    "release is {spend}.{rebuilt}{withdrawn}",
    "ledger.rebuilt": " This ledger was rebuilt from published releases and unfinished attempts, after an earlier one "
    "was lost; its owner states that these are all.",
    "ledger.withdrawn": " Its owner has withdrawn or replaced an earlier release, “{title}” ({release}): {why} What it "
    "cost stays spent.",
    "ledger.account": {
        "person": "Its budget is {whole}; after this release {spent}{where}{closed}.",
        "day": "What a person did in one day has a budget of its own, which is {whole}; after this release "
        "{spent}{where}{closed}.",
        "week": "What a person did in one week has a budget of its own, which is {whole}; after this release "
        "{spent}{where}{closed}.",
        "month": "What a person did in one month has a budget of its own, which is {whole}; after this release "
        "{spent}{where}{closed}.",
    },
    "ledger.spent": {"exactly": "{spent} of it are spent", "most": "at most {spent} of it are spent"},
    "ledger.spent_rho": {
        "exactly": "ρ = {spent} of {rho} is spent",
        "most": "at most ρ = {spent} of {rho} is spent",
    },
    "ledger.in": " in {period}",
    "ledger.in_each": " in each period from {first} to {last}",
    "ledger.closed": " (a release about them had no guarantee)",
    "ledger.always": " Somebody who is in the data {in_every} is guaranteed {cap} for all releases together; "
    "{spent} so far. For them: {strength}",
    "ledger.concentrated": " Costs are counted in ρ (zero-concentrated differential privacy) and converted once, "
    "for the whole budget, unless all of them are pure and plain sums of ε are less: what was spent so far is no "
    "guarantee of its own.",
    # --- how useful the numbers are
    "signal.none": {
        "presence": "These numbers contain no signal: the published presence is {sum}.",
        "visits": "These numbers contain no signal: the published number of visits is {sum}.",
    },
    "signal.law": " That is the sum of all places, with the standard deviation of its noise; noise alone stays below "
    "{most} in 99.86 % of all cases. What is shown of single places is noise, too.",
    "signal.level": "Level {level}: ",
    "signal.windows": {
        "one": "The numbers of one window contain no signal: {named}. What is shown of its places is noise.",
        "other": "The numbers of {n} windows contain no signal: {named}. What is shown of their places is noise.",
    },
    "useful.uncertain": "No place has a value here: the standard error of each is above the limit that the owner "
    "chose. The measurements beside this page are what is known.",
    "useful.nothing": "No place has a value here: for none did the release find clearly enough people to name it, "
    "or to give it a value. That does not mean that nobody was there.",
    "useful.no_bars": "{mechanism} publishes no error bars{why}. How sure a value or a rank is cannot be said from "
    "these files.",
    "useful.differences": {
        "mostly": "Differences between places are mostly real. Small ones may still be noise.",
        "partly": "Differences between places are partly noise. Look at error bars before comparing two places.",
        "hardly": "For most places, the noise is larger than the differences between them. Read this page for the "
        "places that stand out and for areas as a whole, not for one place.",
    },
    "useful.top": " Of the {top} places that are listed first, about {right} can be expected to be truly among the "
    "{top} highest.",
    "useful.top_none": " Of the {top} places that are listed first, hardly any can be expected to be truly among "
    "the {top} highest.",
    "no_bars.why": ", because they could tell how many people were at a place",
    "selection": "This page shows {shown} of {total} places: those with the highest values{certain}. Ranks, chances "
    "and the distribution are about all places; the tables beside this page have all of them.",
    "selection.certain": " and those whose values are most certain",
    # --- the map
    "map.title": "Map",
    "map.none": "There is no map, because {why}.",
    "map.why": {
        "empty": "there is no place in this release",
        "list": "the public list of places has no coordinates",
        "selected": "places were selected from the visits, whose coordinates are never published",
    },
    "map.dot": {
        "place": "Each dot is a place, where the public list says it is; its colour is how many different people it "
        "draws.",
        "zone": "Each dot is a zone, where the public map says it is; its colour is how many different people it "
        "draws.",
        "cell": "Each dot is a cell, where the public grid says it is; its colour is how many different people it "
        "draws.",
        "group": "Each dot is a group of places, in the middle of its places; its colour is how many different "
        "people it draws.",
        "list": "Each dot is a location, in the middle of its places; its colour is how many different people it "
        "draws.",
    },
    "map.area": {
        "place": "Each area is a place, where the public list says it is; its colour is how many different people "
        "it draws.",
        "zone": "Each area is a zone, where the public map says it is; its colour is how many different people it "
        "draws.",
        "cell": "Each area is a cell, where the public grid says it is; its colour is how many different people it "
        "draws.",
        "group": "Each area is a group of places, in the middle of its places; its colour is how many different "
        "people it draws.",
        "list": "Each area is a location, in the middle of its places; its colour is how many different people it "
        "draws.",
    },
    "map.certain": {
        "dot": " The larger and the more solid a dot, the surer is its value.",
        "area": " The more solid an area, the surer is its value.",
    },
    "map.grey": {
        "dot": " Small grey dots are places whose value is not shown, because it is too uncertain.",
        "area": " Grey areas are places whose value is not shown, because it is too uncertain.",
    },
    "map.labels": {
        "rank": " Numbers are the ranks of the highest.",
        "name": " The highest have their names, where there is room.",
    },
    "map.outline": " The lines behind them are a public outline, which was not made from the visits.",
    "map.unplaced": {
        "one": " {n} place without coordinates is in the list only.",
        "other": " {n} places without coordinates are in the list only.",
    },
    "map.mouse": {
        "dot": "Drag to move; zoom with the buttons, or with the wheel after a click; point at a dot to see its "
        "numbers. With the keyboard: arrows, plus, minus, and zero for everything.",
        "area": "Drag to move; zoom with the buttons, or with the wheel after a click; point at an area to see its "
        "numbers. With the keyboard: arrows, plus, minus, and zero for everything.",
    },
    "map.touch": {
        "dot": "Move the map with two fingers, pinch to zoom, tap a dot to see its numbers.",
        "area": "Move the map with two fingers, pinch to zoom, tap an area to see its numbers.",
    },
    "map.role": "map",
    "map.label": "Map of all places. Arrows move, plus and minus zoom, zero shows everything. The list below has "
    "the same places.",
    "map.zoom_in": "Zoom in",
    "map.zoom_out": "Zoom out",
    "map.zoom_all": "Show all places",
    "map.two_fingers": "Use two fingers to move the map",
    "map.legend": "effective visitors",
    "map.less_sure": "less sure",
    "map.surer": "surer",
    # --- the list
    "list.ranked": {
        "place": "Places, ranked",
        "zone": "Zones, ranked",
        "cell": "Cells, ranked",
        "group": "Places by {column}, ranked",
        "list": "All places of the list as one location",
    },
    "list.find": {
        "place": "Find a place",
        "zone": "Find a zone",
        "cell": "Find a cell",
        "group": "Find a group of places",
        "list": "Find a location",
    },
    "list.caption": {
        "place": "Places with their entropy; headings sort",
        "zone": "Zones with their entropy; headings sort",
        "cell": "Cells with their entropy; headings sort",
        "group": "Groups of places with their entropy; headings sort",
        "list": "Locations with their entropy; headings sort",
    },
    "list.name": {"place": "Place", "zone": "Zone", "cell": "Cell", "group": "{column}", "list": "Location"},
    "list.heading": {
        "rank": "Rank",
        "trend": "Trend",
        "visitors": "Effective visitors",
        "entropy": "Entropy",
        "std_error": "Std. error",
        "counted_visitors": "Visitors, bounded",
        "counted_visits": "Visits, bounded",
        "chance": "Top {top}",
    },
    "list.bar": "Error bar",
    "list.hint": "name or id",
    "list.pages": "Pages of the list",
    "list.previous": "Previous",
    "list.next": "Next",
    "list.download": "Download this table (CSV)",
    "list.noscript": "Without scripts, this page shows the first places only. {tables} beside it have all of them.",
    "list.empty": "No place has a value, so there is nothing to rank.",
    "list.order": "Highest first.",
    "list.visitors": "A place with 20 effective visitors is as mixed as one that 20 people visit equally often; "
    "entropy is the logarithm of that number, in {unit}: {entropy}.",
    "list.chance": {
        "all": "“Top {top}” is the chance that a place is truly among the {top} highest, computed from published "
        "values and error bars alone.",
        "published": "“Top {top}” is the chance that a place is truly among the {top} highest of those that have a "
        "value, computed from published values and error bars alone.",
    },
    "list.equal": "Places with equal values share a rank, marked with “=”.",
    # --- columns of the public list
    "listed": {
        "one": "{names}: as the public list has it. The list is public and was not made from the visits, and no "
        "value leans on what it says there.",
        "other": "{names}: as the public list has them. The list is public and was not made from the visits, and no "
        "value leans on what it says there.",
    },
    "leaning": {
        "place": "Estimates of places lean on {together}, as the public list has it.",
        "zone": "Estimates of zones lean on {together}.",
        "cell": "Estimates of cells lean on {together}.",
        "group": "Estimates of places lean on {together}, as the public list has it.",
        "list": "Estimates of places lean on {together}, as the public list has it.",
    },
    "leaning.how": {
        "list": "{leaning} The less is known about a place itself, the more its value is that of places like it, "
        "and the more places there are like it, the surer that is. What a list says is public and was not made from "
        "the visits.",
        "cells": "{leaning} The less is known about a place itself, the more its value is that of places like it, "
        "and the more places there are like it, the surer that is. Where cells are is public and was not made from "
        "the visits.",
    },
    "leaning.effects": " Here {effects}.",
    "leaning.effect": "{name} explains about {percent} % of how places differ",
    "leaning.coordinates": "coordinates",
    "leaning.nearby": {
        "place": "places nearby",
        "zone": "zones nearby",
        "cell": "cells nearby",
        "group": "groups of places nearby",
        "list": "locations nearby",
    },
    "leaning.same": "others with the same {name}",
    "leaning.same_as": "others with the same {name} (those of “{common}” on each other)",
    # --- the distribution
    "distribution.title": "How entropy is distributed",
    "distribution.none": "No value is published.",
    "distribution.model": "Published values lie closer together than the true ones: where little is known, a value "
    "stays near what is usual. Point at a bar for its numbers.",
    "distribution.noise": "Published values are spread wider than the true ones, because noise was added to each. "
    "Point at a bar for its numbers.",
    "distribution.bar": {
        "one": "{low} to {high} {unit}: {n} place",
        "other": "{low} to {high} {unit}: {n} places",
    },
    "distribution.axis": "entropy ({unit})",
    "distribution.label": "Histogram of {count} published values. Half of them are below {middle} {unit}; they go "
    "from {least} to {most}.",
    # --- how to read the page
    "reading.title": "How to read this",
    "reading.entropy_title": "What is entropy here?",
    "reading.entropy": "It tells how many different people a place draws, and how evenly. It is high where many "
    "people come about equally often, like a station or a square, and low where few people make most of the visits, "
    "like a home or an office. It is not a count of visits.",
    "reading.visitors_title": "Effective visitors",
    "reading.visitors": "The same thing as a number one can picture: a place with 20 effective visitors is as mixed "
    "as one that 20 people visit equally often. That is an entropy of {twenty} {unit}; each {two} {unit} more "
    "double it. It is not the number of people who came.",
    "reading.estimand_title": "Which entropy?",
    "reading.counts_title": "Visitors and visits, bounded",
    "reading.counts": "{counts} The interval beside a count is one of the noise alone: it holds the bounded count "
    "in at least 95 of 100 cases, at every place. Counts below 0 were set to 0, so sums over many places come out "
    "too high: the measurements beside this page have the counts before that.",
    "reading.bars_title": "Error bars",
    "reading.bars_none": "This release has none{why}.",
    "reading.bars": {
        "model": "The line through a value is a 95 % interval. It rests on a model of how people and places are "
        "made up: where visitors of a place are quite unlike those of others, the value may lie outside more often "
        "than in 5 of 100 cases. Two places whose lines overlap widely cannot be told apart.",
        "true": "The line through a value is a 95 % interval: in 95 of 100 cases the true value lies within. Two "
        "places whose lines overlap widely cannot be told apart.",
        "bounded": "The line through a value is a 95 % interval for the entropy of the bounded visits, see above: "
        "in 95 of 100 cases it lies within. How far bounding has moved it is not part of the line. Two places whose "
        "lines overlap widely cannot be told apart.",
    },
    "reading.rank_title": "How sure is a rank?",
    "reading.rank": "The line between the {top}th and the {next}th place is put where {top} places are expected "
    "above it. The chance of a place is the probability that its true value is above that line, given its published "
    "value and error bar. {basis} It is an approximation: treat 90 % as “quite sure”, not as an exact number.",
    "reading.rank_model": "It rests on the same model as the error bars, and counts only the part of an error that "
    "places do not share: what is off everywhere changes no order. Where visitors of a place are quite unlike those "
    "of others, it may say too much.",
    "reading.rank_noise": "High noisy values are partly luck, and that is taken into account.",
    "reading.levels_title": "Levels",
    "reading.groups_title": "Groups of places",
    "reading.columns_title": "Columns of the public list",
    "reading.leaning_title": "What values lean on",
    "reading.uncertain_title": "Not shown: too uncertain",
    "reading.withheld_title": "Withheld places",
    "reading.withheld": "The mechanism publishes a value only where it found enough people by a private test. A "
    "withheld place may be quiet, or was withheld by chance.",
    "reading.withheld_other": "The mechanism publishes no value there.",
    "reading.not_title": "What not to conclude",
    "reading.not": "A single value may be far off by chance. Do not rank neighbours by small differences, do not "
    "add values up, and do not take a high value for a large crowd.",
    "reading.use": "Meant for: ",
    # --- files
    "files.title": "Files and manifest",
    "files.where": "All values, with every digit, are in {tables} beside this page; {details} has the fingerprints "
    "of all files, and {verify} compares them. Everything on this page was computed from these published values.",
    "files.tables": "{csv} and {parquet}",
    "files.cite": "To cite this release: ",
    "files.copy": "Copy the citation",
    "files.copied": "Copied.",
    "files.selected": "It is selected: copy it with Ctrl+C or ⌘C.",
    "files.manifest": "The manifest: the guarantee and how it is kept, in full",
    "cite.about": "Location entropy of places",
    "cite.private": "Differentially private ({numbers})",
    "cite.not_private": "{mark}: not for publication",
    "cite.release": "Release {id}, made by locentropy {version}",
    # --- a release in a notebook
    "notebook.large": "The page is too large for a notebook: release.save(directory) writes it as report.html.",
    "notebook.heading": {
        "rank": "rank",
        "place": "place",
        "entropy": "entropy",
        "low": "from",
        "high": "to",
        "effective_visitors": "effective visitors",
    },
    # --- what the page's script says
    "script.unit": {"nats": "nats", "bits": "bits"},
    "script.uncertain": "not shown: too uncertain",
    "script.withheld": "withheld",
    "script.range": "{low} to {high}",
    "script.counted": {"visitors": "visitors, bounded", "visits": "visits, bounded"},
    "script.value": "value",
    "script.rank": "rank",
    "script.rank_of": "{rank} of {total}",
    "script.entropy": "entropy",
    "script.interval": "95 % interval",
    "script.interval_of": "95 % interval {interval}",
    "script.interval_in": "95 % interval, {unit}",
    "script.bar": "{value} {unit}, 95 % interval {interval}",
    "script.visitors": "effective visitors",
    "script.top": "in the top {top}",
    "script.id": "id",
    "script.show": "Show on the map",
    "script.hint": "name, id or {column}",
    "script.rows": "{first}–{last} of {total}",
    "script.rows_none": "none",
    "script.found": {"one": "{n} found", "other": "{n} found"},
    "script.every": "all",
    "script.unknown": "not known",
    "script.compass": {"N": "N", "E": "E", "S": "S", "W": "W"},
    "script.changed": {"rose": "rose", "fell": "fell", "closed": "closed"},
    "script.sure": {
        "rose": "rose, {chance} sure",
        "fell": "fell, {chance} sure",
        "closed": "closed, {chance} sure",
    },
    "script.unchanged": "none that is sure",
    "script.expected": "Visitors to be expected {change}",
    "script.no_value": "no value",
    "script.trend": "Entropy in {unit}. {values}",
    "script.alone": "this period alone",
    "script.change": "change",
    # --- texts that releases keep, by what they tell; parts that are named source or region are such texts again
    "stored.title": "Location entropy",
    "stored.description": "How evenly the visits of each place are spread over its visitors.",
    "stored.source.less": "{source}, less places that the owner excluded",
    "stored.source.outlines_grouped": "public list with outlines, its places grouped by their {column}",
    "stored.source.outlines_levels": "public list with outlines, at the levels {levels}",
    "stored.source.outlines": "public list with outlines",
    "stored.source.grouped": "public list, its places grouped by their {column}",
    "stored.source.levels": "public list, at the levels {levels}",
    "stored.source.list": "public list",
    "stored.source.by_mechanism": "private selection by the mechanism itself",
    "stored.source.selection": "private selection ({parameters})",
    "stored.source.unprotected": "unprotected selection",
    "stored.source.grid_within": "grid of {rows} × {columns} square cells of {size} m, {region}; the {n} cells "
    "within {source}",
    "stored.source.grid": "grid of {rows} × {columns} square cells of {size} m, {region}",
    "stored.source.zones_layer_names": 'zones: {n} polygons of the layer "{layer}" of a map with SHA-256 '
    '{fingerprint}, ids "{ids}" and names "{names}"',
    "stored.source.zones_layer": 'zones: {n} polygons of the layer "{layer}" of a map with SHA-256 {fingerprint}, '
    'ids "{ids}"',
    "stored.source.zones_names": 'zones: {n} polygons of a map with SHA-256 {fingerprint}, ids "{ids}" and names '
    '"{names}"',
    "stored.source.zones": 'zones: {n} polygons of a map with SHA-256 {fingerprint}, ids "{ids}"',
    "stored.source.hexagons": "H3 cells of resolution {resolution}, {region}",
    "stored.source.squares": "INSPIRE squares of {size} (ETRS89-LAEA), {region}",
    "stored.region.zones": "within {source}",
    "stored.region.box": "south {south}, west {west}, north {north}, east {east}",
    "stored.cell": "row {row}, column {column}",
    "stored.keep": "first where the table has a time column, else most-visited",
    "stored.attributes": "{names}, of the list, which was not made from the visits",
    "stored.attributes.cells": "{names}, of the cells, which were not made from the visits",
    "stored.group": "places are grouped by their {column}, of the list, not made from the visits",
    "stored.level.place": "place",
    "stored.level.all": "all",
    "stored.level.city": "city",
    "stored.levels": "{names}, by columns of the list, which was not made from the visits",
    "stored.outline": "lines of a public map with SHA-256 {fingerprint}, cut and simplified",
    "stored.windows.day": "day",
    "stored.windows.week": "week",
    "stored.windows.month": "month",
    "stored.measured": "{mechanism} with {parameters}",
    "stored.proof.none": "none: counterexamples are in {path} of locentropy",
    "stored.proof": "{path} of locentropy",
    "stored.proof.author": "its author states the guarantee",
    "stored.reason.limit_cb": "which locations Limit-CB publishes is decided without noise, so one user alone can "
    "make a location appear or vanish, and every reader of the release can tell",
    "stored.reason.limit_cb_first": "which locations Limit-CB publishes is decided without noise, so one user alone "
    "can make a location appear or vanish, and whoever sees the release can tell",
}
