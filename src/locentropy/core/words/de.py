"""German. docs/report.md has a short glossary of its terms.

What is promised to people must say the same as the English text, no more and no less. "Person" stands for visitors and
users; a period is a calendar day, week or month.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from locentropy.core.language import Text

DECIMAL, THOUSANDS = ",", "."
DAY = "%d.%m.%Y"


def plural(number: int) -> str:
    """1 Ort, 2 Orte."""
    return "one" if number == 1 else "other"


WORDS: Final[dict[str, Text]] = {
    # --- small words that are used in several places
    "and": "{first} und {last}",
    "mark": "NICHT PRIVAT",
    "unit": {"nats": "Nat", "bits": "Bit"},
    "places": {"one": "{n} Ort", "other": "{n} Orte"},
    "things": {
        "place.one": "{n} Ort",
        "place.other": "{n} Orte",
        "zone.one": "{n} Zone",
        "zone.other": "{n} Zonen",
        "cell.one": "{n} Zelle",
        "cell.other": "{n} Zellen",
        "group.one": "{n} Gruppe von Orten",
        "group.other": "{n} Gruppen von Orten",
        "list.one": "{n} Ort",
        "list.other": "{n} Orte",
    },
    "in_data": {
        "person": "in den Daten",
        "day": "in den Daten eines Tages",
        "week": "in den Daten einer Kalenderwoche",
        "month": "in den Daten eines Kalendermonats",
    },
    "in_every": {
        "day": "an jedem Tag",
        "week": "in jeder Kalenderwoche",
        "month": "in jedem Kalendermonat",
    },
    # --- the head of the page
    "page.skip": "Zur Liste springen",
    "page.footer": "Veröffentlichung {id}, erstellt mit locentropy {version}. Diese Seite lädt nichts aus dem Netz.",
    "page.banner": "Für die Personen in den Daten gibt es keine Privatsphäre-Garantie. Diese Seite kann verraten, "
    "wo sie waren: Veröffentlichen Sie sie nicht und geben Sie sie nicht weiter.",
    "page.plain": "Diese Seite konnte nicht gezeichnet werden. Die Zahlen stehen in der Tabelle daneben, die "
    "Privatsphäre-Garantie steht im Manifest.",
    "facts.published_by": "veröffentlicht von {curator}",
    "facts.withheld": "davon {n} zurückgehalten",
    "facts.uncertain": "davon {n} nicht gezeigt: zu unsicher",
    # --- the promise above the map
    "promise.none": "Den Personen, aus deren Besuchen dies berechnet wurde, ist nichts garantiert.",
    "promise.private": "Differentiell privat, {numbers}: {strength}",
    "promise.link": "Was das heißt",
    "promise.every": {
        "day": "Das gilt für jeden einzelnen Tag; für eine Person, die an jedem Tag vorkommt, gilt für alle "
        "Veröffentlichungen zusammen: {numbers}. ",
        "week": "Das gilt für jede einzelne Kalenderwoche; für eine Person, die in jeder Kalenderwoche vorkommt, "
        "gilt für alle Veröffentlichungen zusammen: {numbers}. ",
        "month": "Das gilt für jeden einzelnen Kalendermonat; für eine Person, die in jedem Kalendermonat vorkommt, "
        "gilt für alle Veröffentlichungen zusammen: {numbers}. ",
    },
    # --- the guarantee, in words that the other files have as well
    "strength.none": "Nichts ist durch eine Garantie verborgen: Es gibt keine.",
    "strength.large": "Das Rauschen verbirgt kaum etwas über eine einzelne Person: Wer in diesen Zahlen nach einer "
    "bestimmten Person sucht, kann praktisch Gewissheit darüber erlangen, ob sie in den Daten vorkommt, und "
    "womöglich herausfinden, wo sie war.",
    "strength.changed": "Die Garantie ist {strength}: Ob eine Person weggelassen wird, ändert die "
    "Wahrscheinlichkeit jedes möglichen Ergebnisses höchstens um den Faktor {factor}{on_top}.",
    "strength.on_top": " und zusätzlich um höchstens δ = {delta}",
    "strength.word": {"strong": "stark", "moderate": "mittelstark", "weak": "schwach"},
    "strength.sure": {
        "moderate": " Wer nach einer bestimmten Person sucht, kann sich ziemlich sicher werden, ob sie in den Daten "
        "vorkommt.",
        "weak": " Wer nach einer bestimmten Person sucht, kann nahezu Gewissheit darüber erlangen, ob sie in den "
        "Daten vorkommt.",
    },
    "belief.none": "Nichts ist garantiert: Eine Veröffentlichung kann Angreifenden Gewissheit über eine Person "
    "verschaffen.",
    "belief.present": "Wer es für zu 50 % wahrscheinlich hielt, dass eine bestimmte Person {in_data} vorkommt, kann "
    "das nach dieser Veröffentlichung {bounds}. {replaced}",
    "belief.replaced": "Zwischen zwei möglichen Datensätzen einer Person (wo sie war, wie oft, mit wem) gilt die "
    "Schranke mit dem doppelten ε: Wer einen der beiden für zu 50 % wahrscheinlich hielt, kann ihn danach {bounds}.",
    "belief.replaced_none": "Zwischen zwei möglichen Datensätzen einer Person ist nichts garantiert.",
    "belief.certain": "für praktisch sicher oder für praktisch unmöglich halten",
    "belief.bounds": "für höchstens {most} und mindestens {least} wahrscheinlich halten",
    "belief.bounds_but": "für höchstens {most} und mindestens {least} wahrscheinlich halten; ausgenommen ist, für "
    "jede der beiden Schranken, eine Wahrscheinlichkeit von höchstens {exceptions}, mit der nichts garantiert ist",
    "groups.none": "Niemandem ist etwas garantiert.",
    "groups": "{numbers} gilt dafür, ob eine Person {in_data} vorkommt oder nicht. Zwischen zwei möglichen "
    "Datensätzen einer Person, und für eine von mehreren Personen, die sich eine ID teilen, gilt {replaced}. Für k "
    "Personen zusammen, oder eine Person unter k IDs, wird ε k-mal so groß{delta}.",
    "groups.delta": " und δ wird zu δ·(e^(kε) − 1)/(e^ε − 1)",
    "numbers.none": "gar keine Schranke",
    "stated.private": "Differentiell privat mit {numbers}, für {protects}: {neighbours}.",
    "stated.none": "Nicht differentiell privat: {reasons}.",
    "stated.public": "Als öffentlich angenommen und nicht geschützt: {public}.",
    "stated.nothing": "nichts",
    "protects": {
        "person": "den gesamten Datensatz einer Person",
        "day": "alle Besuche einer Person an einem Tag",
        "week": "alle Besuche einer Person in einer Kalenderwoche (Montag bis Sonntag)",
        "month": "alle Besuche einer Person in einem Kalendermonat",
    },
    "neighbours": {
        "person": "zwei Tabellen sind benachbart, wenn eine von ihnen alle Besuche genau einer weiteren Person "
        "enthält (eine Person hinzufügen oder entfernen)",
        "day": "zwei Tabellen sind benachbart, wenn die eine die andere ohne alle Besuche einer Person an einem Tag "
        "ist (diese hinzufügen oder entfernen)",
        "week": "zwei Tabellen sind benachbart, wenn die eine die andere ohne alle Besuche einer Person in einer "
        "Kalenderwoche (Montag bis Sonntag) ist (diese hinzufügen oder entfernen)",
        "month": "zwei Tabellen sind benachbart, wenn die eine die andere ohne alle Besuche einer Person in einem "
        "Kalendermonat ist (diese hinzufügen oder entfernen)",
    },
    # --- the section about the guarantee
    "guarantee.title": "Die Privatsphäre-Garantie",
    "guarantee.none": "Es gibt keine. Grund: {reasons}.",
    "guarantee.lead": {
        "person": "Diese Zahlen wurden aus Besuchen von Personen berechnet, und Rauschen wurde hinzugefügt, um jede "
        "einzelne Person zu verbergen. {strength} Eine Person wegzulassen heißt, alles wegzulassen, was über sie "
        "bekannt ist: alle ihre Besuche an allen Orten.",
        "day": "Diese Zahlen wurden aus Besuchen von Personen berechnet, und Rauschen wurde hinzugefügt, um jede "
        "einzelne Person zu verbergen. {strength} Eine Person wegzulassen heißt, alles wegzulassen, was über sie "
        "von einem Tag bekannt ist: alle ihre Besuche an allen Orten.",
        "week": "Diese Zahlen wurden aus Besuchen von Personen berechnet, und Rauschen wurde hinzugefügt, um jede "
        "einzelne Person zu verbergen. {strength} Eine Person wegzulassen heißt, alles wegzulassen, was über sie "
        "aus einer Kalenderwoche bekannt ist: alle ihre Besuche an allen Orten.",
        "month": "Diese Zahlen wurden aus Besuchen von Personen berechnet, und Rauschen wurde hinzugefügt, um jede "
        "einzelne Person zu verbergen. {strength} Eine Person wegzulassen heißt, alles wegzulassen, was über sie "
        "aus einem Kalendermonat bekannt ist: alle ihre Besuche an allen Orten.",
    },
    "guarantee.lead_large": "Diese Zahlen wurden aus Besuchen von Personen berechnet, und ein wenig Rauschen wurde "
    "hinzugefügt. {strength}",
    "guarantee.large_title": "Ein sehr großes ε. ",
    "guarantee.large": "Oberhalb von etwa {largest} verspricht eine Garantie so gut wie nichts. Behandeln Sie diese "
    "Zahlen, als wäre kein Rauschen hinzugefügt worden.",
    "guarantee.each": {
        "day": "Jeder Tag: ",
        "week": "Jede Kalenderwoche: ",
        "month": "Jeder Kalendermonat: ",
    },
    "guarantee.always": {
        "day": "Eine Person, die an jedem Tag vorkommt: ",
        "week": "Eine Person, die in jeder Kalenderwoche vorkommt: ",
        "month": "Eine Person, die in jedem Kalendermonat vorkommt: ",
    },
    "guarantee.all_together": "{numbers}, für alle Veröffentlichungen zusammen.",
    "guarantee.for_one": "Für eine einzelne Person heißt das: ",
    "guarantee.covers": "Was sie abdeckt und was nicht",
    "guarantee.is": "Die Garantie ist differentielle Privatsphäre (Differential Privacy) mit {numbers}, für "
    "{record}, vorhanden oder nicht; als eine Person gilt dabei {person}. Kleinere Zahlen schützen mehr. Sie gilt "
    "unabhängig davon, was jemand sonst weiß, jetzt oder später.",
    "guarantee.record": {
        "person": "den gesamten Datensatz einer Person",
        "day": "alles, was eine Person an einem Tag getan hat",
        "week": "alles, was eine Person in einer Kalenderwoche getan hat",
        "month": "alles, was eine Person in einem Kalendermonat getan hat",
    },
    "guarantee.public": "Nicht geschützt, weil es ohnehin öffentlich ist: {public}.",
    "guarantee.chosen_privately": "dass Orte privat ausgewählt wurden, zu Kosten, die enthalten sind",
    "guarantee.taken_from": {
        "list": "die Liste der Orte ({source})",
        "zones": "die Karte der Zonen ({source})",
        "cells": "das Raster der Zellen ({source})",
    },
    "guarantee.existence": "Ebenfalls nicht geschützt: dass es überhaupt eine Veröffentlichung gibt. {existence}",
    "guarantee.not": "Nicht garantiert: dass sich nichts über einen Ort oder über Menschen im Allgemeinen lernen "
    "lässt. Eine Person mit mehreren Nutzer-IDs ist für jede von ihnen einzeln geschützt.",
    "guarantee.beware": "Achtung: {tuned}.",
    # --- what is said about a release, here and in its other files
    "tuned": "Parameter wurden anhand der Daten eingestellt, ohne dass dies angerechnet wurde",
    "checked": "Vor dieser Veröffentlichung hat die herausgebende Stelle IDs, Zeitangaben und ausgelassene Zeilen mit "
    "den genauen Daten abgeglichen; ein Ergebnis wurde dabei nicht berechnet.",
    "person": "eine Nutzer-ID",
    "person.column": "eine ID der Spalte {column}",
    "existence": {
        "fail": "Eine Tabelle, die sich nicht lesen lässt, deren IDs oder Zeiten sich auf zwei Arten verstehen "
        "lassen oder in der eine Zeile gegen eine Regel verstößt, wird abgelehnt, und die Zeilen einer einzigen "
        "Person können der Grund sein: Dass es diese Veröffentlichung gibt, verrät, dass es nicht so war.{empty}",
        "drop": "Zeilen, die gegen eine Regel verstoßen, wurden weggelassen, aber eine Tabelle, die sich nicht "
        "lesen lässt oder deren IDs oder Zeiten sich auf zwei Arten verstehen lassen, wird abgelehnt, und die "
        "Zeilen einer einzigen Person können der Grund sein: Dass es diese Veröffentlichung gibt, verrät, dass es "
        "nicht so war.{empty}",
    },
    "existence.empty": " Diese Veröffentlichung wäre auch abgelehnt worden, wenn an keinem ihrer Orte ein Besuch "
    "gewesen wäre (refuse_empty).",
    "proof": "Beweis der Garantie: {proof}.",
    "proof.levels": "Beweis der Garantie: {proof}, und docs/proofs/levels.md für mehrere Ebenen.",
    "proof.other": "Die Garantie wird von der Autorin oder dem Autor von {mechanism} angegeben und bewiesen; dieses "
    "Verfahren gehört nicht zu locentropy und wurde davon nicht geprüft. Der angegebene Beweis: {proof}.",
    "estimand": {
        "bounded": "Die Werte schätzen die begrenzte Entropie: die der Besuche, die übrig bleiben, nachdem jede "
        "Person auf die Schranken gekürzt wurde. Sie weicht von der Entropie aller Besuche ab, die hier nirgends "
        "geschätzt wird.",
        "true": "Die Werte schätzen die wahre Entropie: die aller Besuche; es wurde keine Schranke angewandt.",
    },
    "origin.unsaid": "{source}; Herkunft nicht angegeben",
    "origin": "{source}; Angabe der herausgebenden Stelle: {words}",
    "grouped": "Orte wurden nach der öffentlichen Spalte {column} zusammengefasst: Ein Besuch an einem Ort einer "
    "Gruppe zählt als Besuch der Gruppe, und wer an mehreren ihrer Orte war, war an einem einzigen Ort. Besuche an "
    "Orten ohne Gruppe bleiben außer Acht. ",
    "uncertain.rule": "Orte, deren Standardfehler über {limit} liegt, haben keinen Wert in der Tabelle{counts}. "
    "{protection}",
    "uncertain.counts": ": keine Entropie also und nichts, was aus ihr folgt; Anzahlen bleiben",
    "uncertain.protection": "Das ist eine Funktion verrauschter Werte: Es kostet kein Budget und entscheidet nicht, "
    "ob es eine Veröffentlichung gibt. Es schützt auch niemanden: Schutz kommt allein vom Rauschen, und "
    "weggelassene Werte lassen sich aus den Messwerten wieder berechnen, wo diese veröffentlicht sind.",
    "uncertain.limit": {"nats": "{nats} Nat", "bits": "{nats} Nat ({bits} Bit)"},
    "bounds.own": "jede Person wird auf die Schranken des Verfahrens gekürzt",
    "bounds": "jede Person zählt an höchstens {places} Orten{keep} und an jedem mit höchstens {visits} Besuchen",
    "bounds.keep": " (behalten: {keep})",
    "counts": "Die Spalten visitors (Personen) und visits (Besuche) sind begrenzte Anzahlen mit Rauschen: {bounds}. "
    "Wo Personen mehr haben, sind die wahren Zahlen größer. Deshalb sind visitors_low und visits_low auch untere "
    "Schranken der wahren Zahlen, visitors_high und visits_high aber keine oberen.",
    # --- windows of time
    "window": "Nur {visits} wurden gelesen. Das Zeitfenster ist öffentlich. {split}",
    "window.visits": "Besuche, die {span} begannen ({zone}{days}{hours}),",
    "window.day": "am {day}",
    "window.days": "vom {first} bis einschließlich {last}",
    "window.weekdays": ", nur an diesen Wochentagen: {days}",
    "window.hours": ", nur zu diesen Uhrzeiten: {hours}",
    "window.hour": "ab {first} bis vor {last} Uhr",
    "window.or": " oder ",
    "window.as_written": "nach den Zeiten, wie sie geschrieben sind",
    "window.zone": "nach der Uhr von {zone}",
    "window.zone_as_written": "Zeiten wie geschrieben",
    "weekday": {
        "mon": "Montag",
        "tue": "Dienstag",
        "wed": "Mittwoch",
        "thu": "Donnerstag",
        "fri": "Freitag",
        "sat": "Samstag",
        "sun": "Sonntag",
    },
    "weekday.short": {
        "mon": "Mo",
        "tue": "Di",
        "wed": "Mi",
        "thu": "Do",
        "fri": "Fr",
        "sat": "Sa",
        "sun": "So",
    },
    "split": {
        "day": "Es ist in {count} Zeitfenster von je einem Tag geteilt, und eine Zeile handelt von einem Ort in "
        "einem davon. ",
        "week": "Es ist in {count} Zeitfenster von je einer Kalenderwoche geteilt, und eine Zeile handelt von einem "
        "Ort in einem davon. ",
        "month": "Es ist in {count} Zeitfenster von je einem Kalendermonat geteilt, und eine Zeile handelt von "
        "einem Ort in einem davon. ",
    },
    "split.measured": {
        "person": "Alle Zeilen werden gemeinsam gemessen: Was eine Person ändern kann, ist einmal begrenzt, über "
        "alle Orte und Zeitfenster. ",
        "day": "Jeder Tag wird für sich gemessen, aus seinen eigenen Besuchen und mit der ganzen genannten "
        "Garantie, die von einem Tag handelt; er wird seinem eigenen Budget belastet und dem einer Person, die an "
        "allen vorkommt. ",
        "week": "Jede Kalenderwoche wird für sich gemessen, aus ihren eigenen Besuchen und mit der ganzen genannten "
        "Garantie, die von einer Kalenderwoche handelt; sie wird ihrem eigenen Budget belastet und dem einer "
        "Person, die in allen vorkommt. ",
        "month": "Jeder Kalendermonat wird für sich gemessen, aus seinen eigenen Besuchen und mit der ganzen "
        "genannten Garantie, die von einem Kalendermonat handelt; er wird seinem eigenen Budget belastet und dem "
        "einer Person, die in allen vorkommt. ",
    },
    "windows.label": "Zeitfenster",
    "windows.all": "Alle Zeitfenster",
    "windows.noscript": "Ohne Skripte zeigt diese Seite nur ein Zeitfenster. Die Tabelle daneben hat alle.",
    # --- levels
    "levels.label": "Ebene",
    "levels.all": "Ebenen",
    "levels.noscript": "Ohne Skripte zeigt diese Seite nur eine Ebene. Die Tabellen aller Ebenen liegen neben "
    "dieser Seite.",
    "levels.shown": "Ebene {name}: {consists}. Sie hat {cost} vom Budget dieser Veröffentlichung; die Garantie "
    "unten ist die aller Ebenen zusammen. {sums}",
    "levels": "Diese Veröffentlichung hat {count} Ebenen: {levels}. Jede wird mit ihrem eigenen Teil des Budgets "
    "gemessen, an denselben Besuchen, und die Teile ergeben zusammen das Ganze. Auf jeder Ebene sind die Besuche "
    "einer Person an allen Orten, die dort zu einem zusammengefasst sind, Besuche an diesem einen Ort, und was die "
    "Person ändern kann, wird dort neu begrenzt. ",
    "levels.one": "{name} ({consists}) mit {cost}, durch {mechanism}",
    "levels.consists": {
        "place": "jeder Ort der öffentlichen Liste für sich",
        "column": "Orte, die in der öffentlichen Spalte {name} übereinstimmen, sind ein Ort",
        "list": "alle Orte der öffentlichen Liste sind ein Ort",
    },
    "levels.sums": "Entropie lässt sich nicht über Ebenen addieren. Die eines Stadtteils etwa handelt von seinen "
    "Personen als Ganzem: Wer an drei seiner Orte war, zählt an drei Orten und im Stadtteil einmal. Deshalb ergeben "
    "weder die Entropien seiner Orte noch deren effektive Personenzahlen zusammen die des Stadtteils. Jede Ebene "
    "hat außerdem ihr eigenes Rauschen; Ebenen müssen also nicht zueinander passen.",
    # --- series
    "series.label": "Zeitraum",
    "series.all": "Zeiträume",
    "series.noscript": "Ohne Skripte zeigt diese Seite nur den letzten Zeitraum.",
    "series.first": "{period}: die erste Veröffentlichung dieser Reihe, allein aus ihren eigenen Messwerten.",
    "series.shown": "{period}: Veröffentlichung {number} einer Reihe. Ihre Werte stützen sich auf ihre eigenen "
    "Messwerte und auf die früher veröffentlichten, was keine weitere Privatsphäre kostet. Verlauf: jeder Ort über "
    "die Zeiträume, mit dem Band seiner 95-%-Intervalle, alle im selben Maßstab. Eine Marke sagt gestiegen, "
    "gefallen oder geschlossen, wo es nach dem Modell zu mindestens 95 % sicher ist, dass sich die zu erwartende "
    "Personenzahl seit dem vorigen Zeitraum oder seit drei Zeiträumen um mehr als ein Viertel geändert hat "
    "(geschlossen: auf weniger als ein Zehntel gefallen), und mehr als die aller Orte.",
    "series.not_shown": {
        "one": "Eine frühere Veröffentlichung dieser Reihe ist auf dieser Seite nicht gezeigt.",
        "other": "{n} frühere Veröffentlichungen dieser Reihe sind auf dieser Seite nicht gezeigt.",
    },
    "series": "Dies ist die Veröffentlichung {number} der Reihe {id}, über dieselben Orte; sie folgt auf die, deren "
    "Details die SHA-256-Prüfsumme {previous} haben. Werte stützen sich auf die veröffentlichten Messwerte aller "
    "{earlier} früheren Veröffentlichungen und auf die eigenen; entropy_alone nur auf die eigenen. Das ist eine "
    "Weiterverarbeitung veröffentlichter Zahlen: Niemandes frühere Besuche wurden noch einmal gelesen, und es "
    "kostet kein Budget.",
    "series.without": "Dies sollte die Veröffentlichung {number} der Reihe {id} werden, nach der, deren Details die "
    "SHA-256-Prüfsumme {previous} haben, und wurde ohne diese Reihe fertiggestellt: Die Werte stützen sich auf keine "
    "frühere Veröffentlichung, und keine spätere kann auf diese folgen.",
    # --- the ledger
    "ledger.none": "Kein Budgetbuch: Diese Veröffentlichung wurde auf kein Budget dieser Personen angerechnet. "
    "Andere Veröffentlichungen über sie kommen zu dem hinzu, was diese kostet.",
    "ledger": "Ein Budgetbuch führt Buch für diesen Personenkreis: {population}. {account}{always}{counted} Die "
    "Ausgabe für diese Veröffentlichung ist {spend}.{rebuilt}{withdrawn}",
    "ledger.rebuilt": " Dieses Budgetbuch wurde aus Veröffentlichungen und nicht abgeschlossenen Versuchen "
    "wiederhergestellt, nachdem ein früheres verloren ging; die herausgebende Stelle erklärt, dass dies alle sind.",
    "ledger.withdrawn": " Die herausgebende Stelle hat eine frühere Veröffentlichung zurückgezogen oder ersetzt, "
    "„{title}“ ({release}): {why} Was sie gekostet hat, bleibt verbraucht.",
    "ledger.account": {
        "person": "Sein Budget ist {whole}; nach dieser Veröffentlichung {spent}{where}{closed}.",
        "day": "Was eine Person an einem Tag getan hat, hat ein eigenes Budget, und zwar {whole}; nach dieser "
        "Veröffentlichung {spent}{where}{closed}.",
        "week": "Was eine Person in einer Kalenderwoche getan hat, hat ein eigenes Budget, und zwar {whole}; nach "
        "dieser Veröffentlichung {spent}{where}{closed}.",
        "month": "Was eine Person in einem Kalendermonat getan hat, hat ein eigenes Budget, und zwar {whole}; nach "
        "dieser Veröffentlichung {spent}{where}{closed}.",
    },
    "ledger.spent": {
        "exactly": "sind davon {spent} verbraucht",
        "most": "sind davon höchstens {spent} verbraucht",
    },
    "ledger.spent_rho": {
        "exactly": "ist ρ = {spent} von {rho} verbraucht",
        "most": "ist höchstens ρ = {spent} von {rho} verbraucht",
    },
    "ledger.in": " (Zeitraum {period})",
    "ledger.in_each": " (in jedem Zeitraum von {first} bis {last})",
    "ledger.closed": " (eine Veröffentlichung über diese Personen hatte keine Garantie)",
    "ledger.always": " Einer Person, die {in_every} in den Daten vorkommt, ist für alle Veröffentlichungen zusammen "
    "{cap} garantiert; bisher {spent}. Für sie gilt: {strength}",
    "ledger.concentrated": " Kosten werden in ρ gezählt (konzentrierte differentielle Privatsphäre, zCDP) und "
    "einmal, für das ganze Budget, umgerechnet, außer wenn alle ohne δ sind und einfache Summen von ε weniger "
    "ergeben: Was bisher verbraucht ist, ist für sich keine Garantie.",
    # --- how useful the numbers are
    "signal.none": {
        "presence": "Diese Zahlen enthalten kein Signal: Die veröffentlichte Anwesenheit ist {sum}.",
        "visits": "Diese Zahlen enthalten kein Signal: Die veröffentlichte Zahl der Besuche ist {sum}.",
    },
    "signal.law": " Das ist die Summe aller Orte, mit der Standardabweichung ihres Rauschens; Rauschen allein bleibt "
    "in 99,86 % aller Fälle unter {most}. Auch was über einzelne Orte gezeigt wird, ist Rauschen.",
    "signal.level": "Ebene {level}: ",
    "signal.windows": {
        "one": "Die Zahlen eines Zeitfensters enthalten kein Signal: {named}. Was über seine Orte gezeigt wird, ist "
        "Rauschen.",
        "other": "Die Zahlen von {n} Zeitfenstern enthalten kein Signal: {named}. Was über ihre Orte gezeigt wird, ist "
        "Rauschen.",
    },
    "useful.uncertain": "Kein Ort hat hier einen Wert: Der Standardfehler liegt bei jedem über der Grenze, die die "
    "herausgebende Stelle gewählt hat. Was bekannt ist, steht in den Messwerten neben dieser Seite.",
    "useful.nothing": "Kein Ort hat hier einen Wert: Bei keinem fand die Veröffentlichung deutlich genug Personen, "
    "um ihn zu nennen oder ihm einen Wert zu geben. Das heißt nicht, dass niemand dort war.",
    "useful.no_bars": "{mechanism} veröffentlicht keine Fehlerbalken{why}. Wie sicher ein Wert oder ein Rang ist, "
    "lässt sich aus diesen Dateien nicht sagen.",
    "useful.differences": {
        "mostly": "Unterschiede zwischen Orten sind größtenteils echt. Kleine können trotzdem Rauschen sein.",
        "partly": "Unterschiede zwischen Orten sind teilweise Rauschen. Sehen Sie auf die Fehlerbalken, bevor Sie "
        "zwei Orte vergleichen.",
        "hardly": "Bei den meisten Orten ist das Rauschen größer als die Unterschiede zwischen ihnen. Lesen Sie "
        "diese Seite für die Orte, die herausragen, und für ganze Gegenden, nicht für einen einzelnen Ort.",
    },
    "useful.top": " Von den {top} zuerst genannten Orten gehören voraussichtlich etwa {right} wirklich zu den {top} "
    "höchsten.",
    "useful.top_none": " Von den {top} zuerst genannten Orten gehört voraussichtlich kaum einer wirklich zu den "
    "{top} höchsten.",
    "no_bars.why": ", weil sie verraten könnten, wie viele Personen an einem Ort waren",
    "selection": "Diese Seite zeigt {shown} von {total} Orten: die mit den höchsten Werten{certain}. Ränge, "
    "Wahrscheinlichkeiten und die Verteilung handeln von allen Orten; die Tabellen neben dieser Seite haben alle.",
    "selection.certain": " und die, deren Werte am sichersten sind",
    # --- the map
    "map.title": "Karte",
    "map.none": "Es gibt keine Karte, weil {why}.",
    "map.why": {
        "empty": "in dieser Veröffentlichung kein Ort ist",
        "list": "die öffentliche Liste der Orte keine Koordinaten hat",
        "selected": "Orte aus den Besuchen ausgewählt wurden, deren Koordinaten nie veröffentlicht werden",
    },
    "map.dot": {
        "place": "Jeder Punkt ist ein Ort, wo die öffentliche Liste ihn angibt; seine Farbe zeigt, wie viele "
        "verschiedene Personen er anzieht.",
        "zone": "Jeder Punkt ist eine Zone, wo die öffentliche Karte sie angibt; seine Farbe zeigt, wie viele "
        "verschiedene Personen sie anzieht.",
        "cell": "Jeder Punkt ist eine Zelle, wo das öffentliche Raster sie angibt; seine Farbe zeigt, wie viele "
        "verschiedene Personen sie anzieht.",
        "group": "Jeder Punkt ist eine Gruppe von Orten, in deren Mitte; seine Farbe zeigt, wie viele verschiedene "
        "Personen sie anzieht.",
        "list": "Jeder Punkt ist ein zusammengefasster Ort, in der Mitte seiner Orte; seine Farbe zeigt, wie viele "
        "verschiedene Personen er anzieht.",
    },
    "map.area": {
        "place": "Jede Fläche ist ein Ort, wo die öffentliche Liste ihn angibt; ihre Farbe zeigt, wie viele "
        "verschiedene Personen er anzieht.",
        "zone": "Jede Fläche ist eine Zone, wo die öffentliche Karte sie angibt; ihre Farbe zeigt, wie viele "
        "verschiedene Personen sie anzieht.",
        "cell": "Jede Fläche ist eine Zelle, wo das öffentliche Raster sie angibt; ihre Farbe zeigt, wie viele "
        "verschiedene Personen sie anzieht.",
        "group": "Jede Fläche ist eine Gruppe von Orten, in deren Mitte; ihre Farbe zeigt, wie viele verschiedene "
        "Personen sie anzieht.",
        "list": "Jede Fläche ist ein zusammengefasster Ort, in der Mitte seiner Orte; ihre Farbe zeigt, wie viele "
        "verschiedene Personen er anzieht.",
    },
    "map.certain": {
        "dot": " Je größer und kräftiger ein Punkt, desto sicherer ist sein Wert.",
        "area": " Je kräftiger eine Fläche, desto sicherer ist ihr Wert.",
    },
    "map.grey": {
        "dot": " Kleine graue Punkte sind Orte, deren Wert nicht gezeigt wird, weil er zu unsicher ist.",
        "area": " Graue Flächen sind Orte, deren Wert nicht gezeigt wird, weil er zu unsicher ist.",
    },
    "map.labels": {
        "rank": " Zahlen sind die Ränge der höchsten.",
        "name": " Die höchsten tragen ihre Namen, wo Platz ist.",
    },
    "map.outline": " Die Linien dahinter sind ein öffentlicher Umriss, der nicht aus den Besuchen gewonnen wurde.",
    "map.unplaced": {
        "one": " {n} Ort ohne Koordinaten steht nur in der Liste.",
        "other": " {n} Orte ohne Koordinaten stehen nur in der Liste.",
    },
    "map.mouse": {
        "dot": "Ziehen verschiebt; zoomen mit den Knöpfen oder nach einem Klick mit dem Mausrad; auf einen Punkt "
        "zeigen, um seine Zahlen zu sehen. Mit der Tastatur: Pfeiltasten, Plus, Minus und Null für alles.",
        "area": "Ziehen verschiebt; zoomen mit den Knöpfen oder nach einem Klick mit dem Mausrad; auf eine Fläche "
        "zeigen, um ihre Zahlen zu sehen. Mit der Tastatur: Pfeiltasten, Plus, Minus und Null für alles.",
    },
    "map.touch": {
        "dot": "Die Karte mit zwei Fingern verschieben, zum Zoomen spreizen, einen Punkt antippen, um seine Zahlen "
        "zu sehen.",
        "area": "Die Karte mit zwei Fingern verschieben, zum Zoomen spreizen, eine Fläche antippen, um ihre Zahlen "
        "zu sehen.",
    },
    "map.role": "Karte",
    "map.label": "Karte aller Orte. Pfeiltasten verschieben, Plus und Minus zoomen, Null zeigt alles. Die Liste "
    "darunter hat dieselben Orte.",
    "map.zoom_in": "Vergrößern",
    "map.zoom_out": "Verkleinern",
    "map.zoom_all": "Alle Orte zeigen",
    "map.two_fingers": "Die Karte mit zwei Fingern verschieben",
    "map.legend": "effektive Personenzahl",
    "map.less_sure": "weniger sicher",
    "map.surer": "sicherer",
    # --- the list
    "list.ranked": {
        "place": "Orte nach Rang",
        "zone": "Zonen nach Rang",
        "cell": "Zellen nach Rang",
        "group": "Orte nach {column}, mit Rang",
        "list": "Alle Orte der Liste als ein Ort",
    },
    "list.find": {
        "place": "Ort suchen",
        "zone": "Zone suchen",
        "cell": "Zelle suchen",
        "group": "Gruppe von Orten suchen",
        "list": "Ort suchen",
    },
    "list.caption": {
        "place": "Orte mit ihrer Entropie; Überschriften sortieren",
        "zone": "Zonen mit ihrer Entropie; Überschriften sortieren",
        "cell": "Zellen mit ihrer Entropie; Überschriften sortieren",
        "group": "Gruppen von Orten mit ihrer Entropie; Überschriften sortieren",
        "list": "Orte mit ihrer Entropie; Überschriften sortieren",
    },
    "list.name": {"place": "Ort", "zone": "Zone", "cell": "Zelle", "group": "{column}", "list": "Ort"},
    "list.heading": {
        "rank": "Rang",
        "trend": "Verlauf",
        "visitors": "Effektive Personen\u00adzahl",  # may be divided there
        "entropy": "Entropie",
        "std_error": "Std.-Fehler",
        "counted_visitors": "Personen, begrenzt",
        "counted_visits": "Besuche, begrenzt",
        "chance": "Top {top}",
    },
    "list.bar": "Fehlerbalken",
    "list.hint": "Name oder ID",
    "list.pages": "Seiten der Liste",
    "list.previous": "Zurück",
    "list.next": "Weiter",
    "list.download": "Diese Tabelle herunterladen (CSV)",
    "list.noscript": "Ohne Skripte zeigt diese Seite nur die ersten Orte. {tables} daneben haben alle.",
    "list.empty": "Kein Ort hat einen Wert, also gibt es keine Rangfolge.",
    "list.order": "Höchste zuerst.",
    "list.visitors": "Ein Ort mit einer effektiven Personenzahl von 20 ist so gemischt wie einer, den 20 Personen "
    "gleich oft besuchen; die Entropie ist der Logarithmus dieser Zahl, in {unit}: {entropy}.",
    "list.chance": {
        "all": "„Top {top}“ ist die Wahrscheinlichkeit, dass ein Ort wirklich zu den {top} höchsten gehört, "
        "berechnet allein aus veröffentlichten Werten und Fehlerbalken.",
        "published": "„Top {top}“ ist die Wahrscheinlichkeit, dass ein Ort wirklich zu den {top} höchsten von denen "
        "gehört, die einen Wert haben, berechnet allein aus veröffentlichten Werten und Fehlerbalken.",
    },
    "list.equal": "Orte mit gleichen Werten teilen sich einen Rang, mit „=“ gekennzeichnet.",
    # --- columns of the public list
    "listed": {
        "one": "{names}: wie in der öffentlichen Liste. Die Liste ist öffentlich und wurde nicht aus den Besuchen "
        "gewonnen, und kein Wert stützt sich auf das, was dort steht.",
        "other": "{names}: wie in der öffentlichen Liste. Die Liste ist öffentlich und wurde nicht aus den Besuchen "
        "gewonnen, und kein Wert stützt sich auf das, was dort steht.",
    },
    "leaning": {
        "place": "Schätzungen für Orte stützen sich auf {together}, wie in der öffentlichen Liste angegeben.",
        "zone": "Schätzungen für Zonen stützen sich auf {together}.",
        "cell": "Schätzungen für Zellen stützen sich auf {together}.",
        "group": "Schätzungen für Orte stützen sich auf {together}, wie in der öffentlichen Liste angegeben.",
        "list": "Schätzungen für Orte stützen sich auf {together}, wie in der öffentlichen Liste angegeben.",
    },
    "leaning.how": {
        "list": "{leaning} Je weniger über einen Ort selbst bekannt ist, desto mehr ist sein Wert der von ähnlichen "
        "Orten, und je mehr ähnliche Orte es gibt, desto sicherer ist dieser. Was in einer Liste steht, ist "
        "öffentlich und wurde nicht aus den Besuchen gewonnen.",
        "cells": "{leaning} Je weniger über einen Ort selbst bekannt ist, desto mehr ist sein Wert der von "
        "ähnlichen Orten, und je mehr ähnliche Orte es gibt, desto sicherer ist dieser. Wo Zellen liegen, ist "
        "öffentlich und wurde nicht aus den Besuchen gewonnen.",
    },
    "leaning.effects": " Hier gilt: {effects}.",
    "leaning.effect": "{name} erklärt etwa {percent} % der Unterschiede zwischen Orten",
    "leaning.coordinates": "die Lage",
    "leaning.nearby": {
        "place": "Orte in der Nähe",
        "zone": "Zonen in der Nähe",
        "cell": "Zellen in der Nähe",
        "group": "Gruppen von Orten in der Nähe",
        "list": "Orte in der Nähe",
    },
    "leaning.same": "andere mit gleicher Angabe bei {name}",
    "leaning.same_as": "andere mit gleicher Angabe bei {name} (solche mit „{common}“ also aufeinander)",
    # --- the distribution
    "distribution.title": "Wie sich die Entropie verteilt",
    "distribution.none": "Es ist kein Wert veröffentlicht.",
    "distribution.model": "Veröffentlichte Werte liegen näher beieinander als die wahren: Wo wenig bekannt ist, "
    "bleibt ein Wert nahe am Üblichen. Auf einen Balken zeigen, um seine Zahlen zu sehen.",
    "distribution.noise": "Veröffentlichte Werte streuen weiter als die wahren, weil zu jedem Rauschen hinzugefügt "
    "wurde. Auf einen Balken zeigen, um seine Zahlen zu sehen.",
    "distribution.bar": {
        "one": "{low} bis {high} {unit}: {n} Ort",
        "other": "{low} bis {high} {unit}: {n} Orte",
    },
    "distribution.axis": "Entropie ({unit})",
    "distribution.label": "Histogramm von {count} veröffentlichten Werten. Die Hälfte liegt unter {middle} {unit}; "
    "sie reichen von {least} bis {most}.",
    # --- how to read the page
    "reading.title": "Wie diese Seite zu lesen ist",
    "reading.entropy_title": "Was ist hier Entropie?",
    "reading.entropy": "Sie sagt, wie viele verschiedene Personen ein Ort anzieht, und wie gleichmäßig. Sie ist "
    "hoch, wo viele Personen etwa gleich oft kommen, wie an einem Bahnhof oder auf einem Platz, und niedrig, wo "
    "wenige Personen die meisten Besuche machen, wie in einer Wohnung oder einem Büro. Sie ist keine Anzahl von "
    "Besuchen.",
    "reading.visitors_title": "Effektive Personenzahl",
    "reading.visitors": "Dasselbe als eine Zahl, die man sich vorstellen kann: Ein Ort mit einer effektiven "
    "Personenzahl von 20 ist so gemischt wie einer, den 20 Personen gleich oft besuchen. Das ist eine Entropie von "
    "{twenty} {unit}; je {two} {unit} mehr verdoppeln die Zahl. Sie ist nicht die Zahl der Personen, die da waren.",
    "reading.estimand_title": "Welche Entropie?",
    "reading.counts_title": "Personen und Besuche, begrenzt",
    "reading.counts": "{counts} Das Intervall neben einer Anzahl ist eines des Rauschens allein: Es enthält die "
    "begrenzte Anzahl in mindestens 95 von 100 Fällen, an jedem Ort. Anzahlen unter 0 wurden auf 0 gesetzt; Summen "
    "über viele Orte fallen deshalb zu hoch aus: Die Messwerte neben dieser Seite haben die Anzahlen davor.",
    "reading.bars_title": "Fehlerbalken",
    "reading.bars_none": "Diese Veröffentlichung hat keine{why}.",
    "reading.bars": {
        "model": "Die Linie durch einen Wert ist ein 95-%-Intervall. Es beruht auf einem Modell davon, wie Personen "
        "und Orte beschaffen sind: Wo die Personen an einem Ort ganz anders sind als an anderen, kann der Wert "
        "öfter als in 5 von 100 Fällen außerhalb liegen. Zwei Orte, deren Linien sich weit überlappen, lassen sich "
        "nicht unterscheiden.",
        "true": "Die Linie durch einen Wert ist ein 95-%-Intervall: In 95 von 100 Fällen liegt der wahre Wert "
        "darin. Zwei Orte, deren Linien sich weit überlappen, lassen sich nicht unterscheiden.",
        "bounded": "Die Linie durch einen Wert ist ein 95-%-Intervall für die Entropie der begrenzten Besuche, "
        "siehe oben: In 95 von 100 Fällen liegt sie darin. Wie weit das Begrenzen sie verschoben hat, gehört nicht "
        "zur Linie. Zwei Orte, deren Linien sich weit überlappen, lassen sich nicht unterscheiden.",
    },
    "reading.rank_title": "Wie sicher ist ein Rang?",
    "reading.rank": "Die Grenze zwischen dem {top}. und dem {next}. Rang liegt dort, wo {top} Orte darüber zu "
    "erwarten sind. Die Wahrscheinlichkeit eines Ortes ist die, dass sein wahrer Wert über dieser Grenze liegt, bei "
    "seinem veröffentlichten Wert und seinem Fehlerbalken. {basis} Sie ist eine Näherung: Verstehen Sie 90 % als "
    "„ziemlich sicher“, nicht als genaue Zahl.",
    "reading.rank_model": "Sie beruht auf demselben Modell wie die Fehlerbalken und zählt nur den Teil eines "
    "Fehlers, den Orte nicht gemeinsam haben: Was überall falsch ist, ändert keine Reihenfolge. Wo die Personen an "
    "einem Ort ganz anders sind als an anderen, kann sie zu viel sagen.",
    "reading.rank_noise": "Hohe verrauschte Werte sind teilweise Glück, und das ist berücksichtigt.",
    "reading.levels_title": "Ebenen",
    "reading.groups_title": "Gruppen von Orten",
    "reading.columns_title": "Spalten der öffentlichen Liste",
    "reading.leaning_title": "Worauf sich Werte stützen",
    "reading.uncertain_title": "Nicht gezeigt: zu unsicher",
    "reading.withheld_title": "Zurückgehaltene Orte",
    "reading.withheld": "Das Verfahren veröffentlicht einen Wert nur, wo es durch einen privaten Test genug "
    "Personen fand. Ein zurückgehaltener Ort kann ruhig sein, oder er wurde durch Zufall zurückgehalten.",
    "reading.withheld_other": "Das Verfahren veröffentlicht dort keinen Wert.",
    "reading.not_title": "Was nicht daraus folgt",
    "reading.not": "Ein einzelner Wert kann durch Zufall weit danebenliegen. Ordnen Sie Nachbarn nicht nach kleinen "
    "Unterschieden, addieren Sie Werte nicht, und halten Sie einen hohen Wert nicht für eine große Menge.",
    "reading.use": "Gedacht für: ",
    # --- files
    "files.title": "Dateien und Manifest",
    "files.where": "Alle Werte, mit allen Stellen, stehen in {tables} neben dieser Seite; {details} hat die "
    "Prüfsummen aller Dateien, und {verify} vergleicht sie. Alles auf dieser Seite wurde aus diesen "
    "veröffentlichten Werten berechnet.",
    "files.tables": "{csv} und {parquet}",
    "files.cite": "So wird diese Veröffentlichung zitiert: ",
    "files.copy": "Zitat kopieren",
    "files.copied": "Kopiert.",
    "files.selected": "Es ist markiert: mit Strg+C oder ⌘C kopieren.",
    "files.manifest": "Das Manifest: die Garantie und wie sie eingehalten wird, vollständig (auf Englisch)",
    "cite.about": "Entropie von Orten",
    "cite.private": "Differentiell privat ({numbers})",
    "cite.not_private": "{mark}: nicht zur Veröffentlichung",
    "cite.release": "Veröffentlichung {id}, erstellt mit locentropy {version}",
    # --- a release in a notebook
    "notebook.large": "Die Seite ist zu groß für ein Notebook: release.save(directory) schreibt sie als report.html.",
    "notebook.heading": {
        "rank": "Rang",
        "place": "Ort",
        "entropy": "Entropie",
        "low": "von",
        "high": "bis",
        "effective_visitors": "effektive Personenzahl",
    },
    # --- what the page's script says
    "script.unit": {"nats": "Nat", "bits": "Bit"},
    "script.uncertain": "nicht gezeigt: zu unsicher",
    "script.withheld": "zurückgehalten",
    "script.range": "{low} bis {high}",
    "script.counted": {"visitors": "Personen, begrenzt", "visits": "Besuche, begrenzt"},
    "script.value": "Wert",
    "script.rank": "Rang",
    "script.rank_of": "{rank} von {total}",
    "script.entropy": "Entropie",
    "script.interval": "95-%-Intervall",
    "script.interval_of": "95-%-Intervall {interval}",
    "script.interval_in": "95-%-Intervall, {unit}",
    "script.bar": "{value} {unit}, 95-%-Intervall {interval}",
    "script.visitors": "effektive Personenzahl",
    "script.top": "unter den ersten {top}",
    "script.id": "ID",
    "script.show": "Auf der Karte zeigen",
    "script.hint": "Name, ID oder {column}",
    "script.rows": "{first}–{last} von {total}",
    "script.rows_none": "keine",
    "script.found": {"one": "{n} gefunden", "other": "{n} gefunden"},
    "script.every": "alle",
    "script.unknown": "nicht bekannt",
    "script.compass": {"N": "N", "E": "O", "S": "S", "W": "W"},
    "script.changed": {"rose": "gestiegen", "fell": "gefallen", "closed": "geschlossen"},
    "script.sure": {
        "rose": "gestiegen, zu {chance} sicher",
        "fell": "gefallen, zu {chance} sicher",
        "closed": "geschlossen, zu {chance} sicher",
    },
    "script.unchanged": "keine, die sicher wäre",
    "script.expected": "Zu erwartende Personenzahl: {change}",
    "script.no_value": "kein Wert",
    "script.trend": "Entropie in {unit}. {values}",
    "script.alone": "dieser Zeitraum allein",
    "script.change": "Änderung",
    # --- texts that releases keep, by what they tell; parts that are named source or region are such texts again
    "stored.title": "Entropie von Orten",
    "stored.description": "Wie gleichmäßig sich die Besuche jedes Ortes auf die Personen verteilen, die ihn "
    "besuchen.",
    "stored.source.less": "{source}, ohne Orte, die die herausgebende Stelle ausgeschlossen hat",
    "stored.source.outlines_grouped": "öffentliche Liste mit Umrissen, deren Orte nach {column} zusammengefasst sind",
    "stored.source.outlines_levels": "öffentliche Liste mit Umrissen, auf den Ebenen {levels}",
    "stored.source.outlines": "öffentliche Liste mit Umrissen",
    "stored.source.grouped": "öffentliche Liste, deren Orte nach {column} zusammengefasst sind",
    "stored.source.levels": "öffentliche Liste, auf den Ebenen {levels}",
    "stored.source.list": "öffentliche Liste",
    "stored.source.by_mechanism": "private Auswahl durch das Verfahren selbst",
    "stored.source.selection": "private Auswahl ({parameters})",
    "stored.source.unprotected": "ungeschützte Auswahl",
    "stored.source.grid_within": "Raster aus {rows} × {columns} quadratischen Zellen von {size} m, {region}; davon "
    "die {n} Zellen innerhalb von {source}",
    "stored.source.grid": "Raster aus {rows} × {columns} quadratischen Zellen von {size} m, {region}",
    "stored.source.zones_layer_names": 'Zonen: {n} Polygone der Schicht "{layer}" einer Karte mit SHA-256 '
    '{fingerprint}, IDs "{ids}" und Namen "{names}"',
    "stored.source.zones_layer": 'Zonen: {n} Polygone der Schicht "{layer}" einer Karte mit SHA-256 '
    '{fingerprint}, IDs "{ids}"',
    "stored.source.zones_names": 'Zonen: {n} Polygone einer Karte mit SHA-256 {fingerprint}, IDs "{ids}" und '
    'Namen "{names}"',
    "stored.source.zones": 'Zonen: {n} Polygone einer Karte mit SHA-256 {fingerprint}, IDs "{ids}"',
    "stored.source.hexagons": "H3-Zellen der Auflösung {resolution}, {region}",
    "stored.source.squares": "INSPIRE-Quadrate von {size} (ETRS89-LAEA), {region}",
    "stored.region.zones": "innerhalb von {source}",
    "stored.region.box": "Süden {south}, Westen {west}, Norden {north}, Osten {east}",
    "stored.cell": "Zeile {row}, Spalte {column}",
    "stored.keep": "first, wo die Tabelle eine Zeitspalte hat, sonst most-visited",
    "stored.attributes": "{names}, aus der Liste, die nicht aus den Besuchen gewonnen wurde",
    "stored.attributes.cells": "{names}, der Zellen, die nicht aus den Besuchen gewonnen wurden",
    "stored.group": "Orte sind nach {column} zusammengefasst, aus der Liste, nicht aus den Besuchen gewonnen",
    "stored.level.place": "Orte",
    "stored.level.all": "alle",
    "stored.level.city": "Stadt",
    "stored.levels": "{names}, nach Spalten der Liste, die nicht aus den Besuchen gewonnen wurde",
    "stored.outline": "Linien einer öffentlichen Karte mit SHA-256 {fingerprint}, zugeschnitten und vereinfacht",
    "stored.windows.day": "Tag",
    "stored.windows.week": "Woche",
    "stored.windows.month": "Monat",
    "stored.measured": "{mechanism} mit {parameters}",
    "stored.proof.none": "keiner: Gegenbeispiele stehen in {path} von locentropy",
    "stored.proof": "{path} von locentropy",
    "stored.proof.author": "die Garantie wird von der Autorin oder dem Autor des Verfahrens angegeben",
    "stored.reason.limit_cb": "Welche Orte Limit-CB veröffentlicht, wird ohne Rauschen entschieden; deshalb kann "
    "eine einzige Person einen Ort erscheinen oder verschwinden lassen, und alle, die die Veröffentlichung lesen, "
    "können es erkennen",
    "stored.reason.limit_cb_first": "Welche Orte Limit-CB veröffentlicht, wird ohne Rauschen entschieden; deshalb "
    "kann eine einzige Person einen Ort erscheinen oder verschwinden lassen, und wer die Veröffentlichung sieht, "
    "kann es erkennen",
}
