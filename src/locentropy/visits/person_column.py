"""The person: which columns of a table could hold who made a visit.

Who is protected is decided by one column. If it is the wrong one (a `uid` for each trip beside a `member`), the
guarantee holds for each trip, and a member with a thousand trips has none to speak of. So a column is taken by its
name only where no other column could be the person as well; where several could, the caller must choose.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from locentropy.core.errors import ColumnError

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL: Final = frozenset(
    # No name that may be a flag or a thing: to protect a device rather than a person, the caller must say so.
    (
        "user userid uid usr userno username person personid pid visitorid memberid customerid subscriberid "
        # German. Kunde is one customer; whether somebody is a customer would be asked otherwise.
        "nutzer nutzerid nutzernr nutzernummer nutzerkennung benutzer benutzerid benutzernr benutzernummer "
        "benutzerkennung benutzername personenid personennr personennummer besucherid besuchernr besuchernummer kunde "
        "kundenid kundennr kundennummer kundenkennung mitgliedsid mitgliedsnr mitgliedsnummer "
        # French, Spanish, Portuguese and Italian, with the number before or after the word.
        "utilisateur utilisateurid idutilisateur identifiantutilisateur usager usagerid idusager personne personneid "
        "idpersonne idclient identifiantclient codeclient numeroclient numerodeclient nclient noclient "
        "usuario usuarioid idusuario iddeusuario nombredeusuario persona personaid idpersona idcliente iddecliente "
        "clienteid numerocliente numerodecliente ncliente nocliente codigocliente codigodecliente "
        "iddousuario utilizador utilizadorid idutilizador iddoutilizador pessoa pessoaid idpessoa iddocliente "
        "numerodocliente codigodocliente utente utenteid idutente codiceutente nomeutente codicecliente"
    ).split()
)
"""Names that are taken for the person where no other column could be it."""

LONGEST_NAME: Final = 200
"""Characters: the name of the column is published with the guarantee."""

# People by what they are called in tables, and things that stand for one: cards, phones, households.
_STEMS: Final = (
    "user|usr|uid|person|pid|people|individual|member|customer|cust|visitor|guest|patron|client|subscriber|account|"
    "acct|device|handset|phone|mobile|telephone|imsi|imei|msisdn|sim|mac|macaddress|cookie|adid|maid|idfa|gaid|aaid|"
    "email|mail|emailaddress|login|rider|passenger|driver|traveller|traveler|commuter|card|cardholder|badge|household|"
    "patient|employee|worker|student|pupil|participant|respondent|citizen|resident|tenant|player|shopper|buyer|"
    "consumer|vehicle|licenceplate|licenseplate|numberplate|ssn|passport|"
    # The same in German, French, Spanish, Portuguese and Italian, without accents.
    "nutzer|benutzer|person|personen|besucher|kunde|kundin|kunden|mitglied|mitglieds|gast|teilnehmer|fahrgast|fahrer|"
    "patienten|konto|gerat|gerate|geraet|geraete|handy|telefon|karte|karten|haushalt|haushalts|mitarbeiter|schuler|"
    "schueler|bewohner|burger|buerger|kennzeichen|ausweis|"
    "utilisateur|usager|personne|client|visiteur|membre|abonne|adherent|appareil|compte|carte|foyer|passager|voyageur|"
    "salarie|eleve|habitant|"
    "usuario|persona|cliente|visitante|miembro|socio|abonado|dispositivo|movil|telefono|cuenta|tarjeta|hogar|pasajero|"
    "viajero|paciente|empleado|alumno|ciudadano|vecino|matricula|"
    "utilizador|pessoa|membro|assinante|aparelho|telemovel|celular|telefone|conta|cartao|passageiro|viajante|"
    "funcionario|aluno|cidadao|morador|"
    "utente|visitatore|iscritto|abbonato|cellulare|tessera|passeggero|viaggiatore|paziente|dipendente|studente|"
    "cittadino|residente|targa"
)
_PREFIXES: Final = (
    "id|no|nr|num|numero|code|codigo|codice|hashed|hash|anonymous|anonymised|anonymized|anon|encrypted|masked|"
    "pseudonymous|pseudo"
)
_SUFFIXES: Final = (
    "id|no|nr|num|number|nummer|numero|hash|hashed|key|code|uuid|guid|ref|token|pseudonym|anon|kennung"
)
_COULD_BE: Final = re.compile(rf"(?:{_PREFIXES})?(?:{_STEMS})(?:{_SUFFIXES}){{0,2}}")


def normalized(name: str) -> str:
    """A column name without case, accents and punctuation."""
    # Accents are signs of their own once they are taken apart, and no letters.
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", name)).casefold()


def could_be_person(name: str) -> bool:
    """Whether a column of this name could hold who made a visit."""
    known = normalized(name)
    return known in USUAL or _COULD_BE.fullmatch(known) is not None


def find_person(free: Sequence[str], source: str, listing: str, prefix: str, *, shown: bool) -> str | None:
    """The only column that could be the person, if it has a usual name; ColumnError if several could.

    Without `shown`, names may be somebody's first visit rather than a header, and only usual ones are told.
    """
    found = [name for name in free if could_be_person(name)]
    usual = [name for name in found if normalized(name) in USUAL]
    if not usual:
        return None
    if len(found) == 1:
        return usual[0]
    told = [name for name in found if shown or name in usual]
    others = len(found) - len(told)
    names = " and ".join([*map(repr, told), *([f"{others} more"] if others else [])])
    choices = " or ".join(f"user={name!r} ({prefix}user {name!r})" for name in told)
    raise ColumnError(
        f"{source}: which column is the person? {names} could be, and only whole records of the one that is chosen "
        f"are protected. {listing} Name the column in which all rows of a person have the same id: {choices}."
    )


def check_publishable(name: str) -> str:
    """Return the name of the user column; ColumnError unless it can be published as it is, with the guarantee."""
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise ColumnError(
            "The name of the user column is published with the guarantee, and must be one line of printable text of "
            f"at most {LONGEST_NAME} characters. Rename the column."
        )
    return name
