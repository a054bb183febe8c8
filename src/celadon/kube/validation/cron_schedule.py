"""Schedules of CronJobs: five fields, or `@every` and its relatives.

As github.com/robfig/cron `ParseStandard` reads them. Of what is wrong it is the first that is
complained about, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import quote
from celadon.kube.go.go_time import DurationError, parse_go_duration
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

EVERY: Final = "@every "
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_INTEGER: Final = late_pattern("[+-]?[0-9]+")
_ZONED: Final = late_pattern("(?:CRON_)?TZ=")
_MAX_DIGITS: Final = 18


class ScheduleError(MalformedText):
    """A schedule that cannot be parsed, in the parser's words."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers that a field may hold, and the names of some of them."""

    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)


FIELDS: Final = (
    Bounds(0, 59),
    Bounds(0, 23),
    Bounds(1, 31),
    Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    Bounds(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
"""Minute, hour, day of month, month, day of week."""


@dataclass(frozen=True, slots=True)
class Field:
    """The numbers that fit. One that `is_open` says nothing about days when the other does."""

    numbers: frozenset[int]
    is_open: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """In the time zone that the text names, if it does: either `every` so many seconds, or when
    all `fields` fit."""

    zone: str
    fields: tuple[Field, ...] = ()
    every: int = 0


_NEVER_LESS: Final = 1
"""Second between two times."""
_NANOSECONDS: Final = 10**9
_DESCRIPTORS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def parse_schedule(text: str) -> Schedule:
    """Parse a schedule. Raises ScheduleError."""
    if not text:
        raise ScheduleError("empty spec string")
    zone = ""
    if _ZONED.match(text):
        named, _, text = text.partition(" ")
        zone, text = named.partition("=")[2], text.strip()
    if text.startswith("@"):
        descriptor = _descriptor(text)
        if isinstance(descriptor, int):
            return Schedule(zone, every=descriptor)
        text = descriptor
    parts = text.split()
    if len(parts) != len(FIELDS):
        listed = " ".join(parts)
        raise ScheduleError(
            f"expected exactly {len(FIELDS)} fields, found {len(parts)}: [{listed}]"
        )
    return Schedule(zone, tuple(map(_field, parts, FIELDS)))


def _descriptor(text: str) -> str | int:
    """Return the fields that a descriptor stands for, or the seconds between two times."""
    if text in _DESCRIPTORS:
        return _DESCRIPTORS[text]
    if not text.startswith(EVERY):
        raise ScheduleError(f"unrecognized descriptor: {text}")
    try:
        duration = parse_go_duration(text.removeprefix(EVERY))
    except DurationError as error:
        raise ScheduleError(f"failed to parse duration {text}: {error}") from None
    return max(duration // _NANOSECONDS, _NEVER_LESS)


def _field(text: str, bounds: Bounds) -> Field:
    numbers: set[int] = set()
    is_open = False
    for term in filter(None, text.split(",")):
        term_range = _range(term, bounds)
        numbers.update(term_range)
        is_open = is_open or (term[0] in "*?" and term_range.step == 1)
    return Field(frozenset(numbers), is_open)


def _range(term: str, bounds: Bounds) -> range:
    span, *steps = term.split("/")
    ends = span.split("-")
    if ends[0] in {"*", "?"}:
        start, end = bounds.low, bounds.high
    else:
        start = end = _number(ends[0], bounds)
        if len(ends) == 2:
            end = _number(ends[1], bounds)
        elif len(ends) > 2:
            raise ScheduleError(f"too many hyphens: {term}")
    step = 1
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {term}")
    if steps:
        step = _integer(steps[0])
        end = bounds.high if len(ends) == 1 else end
    _check(term, bounds, start, end, step)
    return range(start, end + 1, step)


def _check(term: str, bounds: Bounds, start: int, end: int, step: int) -> None:
    if start < bounds.low:
        detail = f"beginning of range ({start}) below minimum ({bounds.low})"
    elif end > bounds.high:
        detail = f"end of range ({end}) above maximum ({bounds.high})"
    elif start > end:
        detail = f"beginning of range ({start}) beyond end of range ({end})"
    elif step == 0:
        detail = "step of range should be a positive number"
    else:
        return
    raise ScheduleError(f"{detail}: {term}")


def _number(text: str, bounds: Bounds) -> int:
    named = bounds.names.get(text.lower())
    return _integer(text) if named is None else named


def _integer(text: str) -> int:
    if _INTEGER.fullmatch(text) is None or len(text) > _MAX_DIGITS:
        large = _INTEGER.fullmatch(text) is not None
        detail = "value out of range" if large else "invalid syntax"
        raise ScheduleError(
            f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: {detail}"
        )
    number = int(text)
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number


# --- Time zones --------------------------------------------------------------
#
# The names of the time zones of the IANA database, by the region they belong to.

_BY_REGION: Final = {
    "": (
        "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 "
        "GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya "
        "MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore "
        "Turkey UCT UTC Universal W-SU WET Zulu"
    ),
    "Africa": (
        "Abidjan Accra Addis_Ababa Algiers Asmara Asmera Bamako Bangui Banjul Bissau "
        "Blantyre Brazzaville Bujumbura Cairo Casablanca Ceuta Conakry Dakar "
        "Dar_es_Salaam Djibouti Douala El_Aaiun Freetown Gaborone Harare Johannesburg "
        "Juba Kampala Khartoum Kigali Kinshasa Lagos Libreville Lome Luanda Lubumbashi "
        "Lusaka Malabo Maputo Maseru Mbabane Mogadishu Monrovia Nairobi Ndjamena Niamey "
        "Nouakchott Ouagadougou Porto-Novo Sao_Tome Timbuktu Tripoli Tunis Windhoek"
    ),
    "America": (
        "Adak Anchorage Anguilla Antigua Araguaina Aruba Asuncion Atikokan Atka Bahia "
        "Bahia_Banderas Barbados Belem Belize Blanc-Sablon Boa_Vista Bogota Boise "
        "Buenos_Aires Cambridge_Bay Campo_Grande Cancun Caracas Catamarca Cayenne Cayman "
        "Chicago Chihuahua Ciudad_Juarez Coral_Harbour Cordoba Costa_Rica Coyhaique "
        "Creston Cuiaba Curacao Danmarkshavn Dawson Dawson_Creek Denver Detroit Dominica "
        "Edmonton Eirunepe El_Salvador Ensenada Fort_Nelson Fort_Wayne Fortaleza "
        "Glace_Bay Godthab Goose_Bay Grand_Turk Grenada Guadeloupe Guatemala Guayaquil "
        "Guyana Halifax Havana Hermosillo Indianapolis Inuvik Iqaluit Jamaica Jujuy "
        "Juneau Knox_IN Kralendijk La_Paz Lima Los_Angeles Louisville Lower_Princes "
        "Maceio Managua Manaus Marigot Martinique Matamoros Mazatlan Mendoza Menominee "
        "Merida Metlakatla Mexico_City Miquelon Moncton Monterrey Montevideo Montreal "
        "Montserrat Nassau New_York Nipigon Nome Noronha Nuuk Ojinaga Panama Pangnirtung "
        "Paramaribo Phoenix Port-au-Prince Port_of_Spain Porto_Acre Porto_Velho "
        "Puerto_Rico Punta_Arenas Rainy_River Rankin_Inlet Recife Regina Resolute "
        "Rio_Branco Rosario Santa_Isabel Santarem Santiago Santo_Domingo Sao_Paulo "
        "Scoresbysund Shiprock Sitka St_Barthelemy St_Johns St_Kitts St_Lucia St_Thomas "
        "St_Vincent Swift_Current Tegucigalpa Thule Thunder_Bay Tijuana Toronto Tortola "
        "Vancouver Virgin Whitehorse Winnipeg Yakutat Yellowknife"
    ),
    "America/Argentina": (
        "Buenos_Aires Catamarca ComodRivadavia Cordoba Jujuy La_Rioja Mendoza "
        "Rio_Gallegos Salta San_Juan San_Luis Tucuman Ushuaia"
    ),
    "America/Indiana": ("Indianapolis Knox Marengo Petersburg Tell_City Vevay Vincennes Winamac"),
    "America/Kentucky": ("Louisville Monticello"),
    "America/North_Dakota": ("Beulah Center New_Salem"),
    "Antarctica": (
        "Casey Davis DumontDUrville Macquarie Mawson McMurdo Palmer Rothera South_Pole "
        "Syowa Troll Vostok"
    ),
    "Arctic": ("Longyearbyen"),
    "Asia": (
        "Aden Almaty Amman Anadyr Aqtau Aqtobe Ashgabat Ashkhabad Atyrau Baghdad Bahrain "
        "Baku Bangkok Barnaul Beirut Bishkek Brunei Calcutta Chita Choibalsan Chongqing "
        "Chungking Colombo Dacca Damascus Dhaka Dili Dubai Dushanbe Famagusta Gaza Harbin "
        "Hebron Ho_Chi_Minh Hong_Kong Hovd Irkutsk Istanbul Jakarta Jayapura Jerusalem "
        "Kabul Kamchatka Karachi Kashgar Kathmandu Katmandu Khandyga Kolkata Krasnoyarsk "
        "Kuala_Lumpur Kuching Kuwait Macao Macau Magadan Makassar Manila Muscat Nicosia "
        "Novokuznetsk Novosibirsk Omsk Oral Phnom_Penh Pontianak Pyongyang Qatar Qostanay "
        "Qyzylorda Rangoon Riyadh Saigon Sakhalin Samarkand Seoul Shanghai Singapore "
        "Srednekolymsk Taipei Tashkent Tbilisi Tehran Tel_Aviv Thimbu Thimphu Tokyo Tomsk "
        "Ujung_Pandang Ulaanbaatar Ulan_Bator Urumqi Ust-Nera Vientiane Vladivostok "
        "Yakutsk Yangon Yekaterinburg Yerevan"
    ),
    "Atlantic": (
        "Azores Bermuda Canary Cape_Verde Faeroe Faroe Jan_Mayen Madeira Reykjavik "
        "South_Georgia St_Helena Stanley"
    ),
    "Australia": (
        "ACT Adelaide Brisbane Broken_Hill Canberra Currie Darwin Eucla Hobart LHI "
        "Lindeman Lord_Howe Melbourne NSW North Perth Queensland South Sydney Tasmania "
        "Victoria West Yancowinna"
    ),
    "Brazil": ("Acre DeNoronha East West"),
    "Canada": ("Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon"),
    "Chile": ("Continental EasterIsland"),
    "Etc": (
        "GMT GMT+0 GMT+1 GMT+10 GMT+11 GMT+12 GMT+2 GMT+3 GMT+4 GMT+5 GMT+6 GMT+7 GMT+8 "
        "GMT+9 GMT-0 GMT-1 GMT-10 GMT-11 GMT-12 GMT-13 GMT-14 GMT-2 GMT-3 GMT-4 GMT-5 "
        "GMT-6 GMT-7 GMT-8 GMT-9 GMT0 Greenwich UCT UTC Universal Zulu"
    ),
    "Europe": (
        "Amsterdam Andorra Astrakhan Athens Belfast Belgrade Berlin Bratislava Brussels "
        "Bucharest Budapest Busingen Chisinau Copenhagen Dublin Gibraltar Guernsey "
        "Helsinki Isle_of_Man Istanbul Jersey Kaliningrad Kiev Kirov Kyiv Lisbon "
        "Ljubljana London Luxembourg Madrid Malta Mariehamn Minsk Monaco Moscow Nicosia "
        "Oslo Paris Podgorica Prague Riga Rome Samara San_Marino Sarajevo Saratov "
        "Simferopol Skopje Sofia Stockholm Tallinn Tirane Tiraspol Ulyanovsk Uzhgorod "
        "Vaduz Vatican Vienna Vilnius Volgograd Warsaw Zagreb Zaporozhye Zurich"
    ),
    "Indian": (
        "Antananarivo Chagos Christmas Cocos Comoro Kerguelen Mahe Maldives Mauritius "
        "Mayotte Reunion"
    ),
    "Mexico": ("BajaNorte BajaSur General"),
    "Pacific": (
        "Apia Auckland Bougainville Chatham Chuuk Easter Efate Enderbury Fakaofo Fiji "
        "Funafuti Galapagos Gambier Guadalcanal Guam Honolulu Johnston Kanton Kiritimati "
        "Kosrae Kwajalein Majuro Marquesas Midway Nauru Niue Norfolk Noumea Pago_Pago "
        "Palau Pitcairn Pohnpei Ponape Port_Moresby Rarotonga Saipan Samoa Tahiti Tarawa "
        "Tongatapu Truk Wake Wallis Yap"
    ),
    "US": (
        "Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke "
        "Michigan Mountain Pacific Samoa"
    ),
}

TIME_ZONES: Final = frozenset(
    f"{region}/{name}" if region else name
    for region, names in _BY_REGION.items()
    for name in names.split()
)
