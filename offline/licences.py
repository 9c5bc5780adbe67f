"""The licence of every collection of YIELD, by the names that the released files use.

References:
    YIELD, Table A.1. The paper names collections in prose; the released files use short names and cut them to about 25
    characters, so that a name is matched by its start.
"""

from typing import Final

from elicit_gym.offline.schema import Dialogue

__all__ = ["COMMERCIAL", "UNKNOWN", "licence_of"]

CC0: Final = "CC0 1.0"
BY: Final = "CC BY 4.0"
BY_NC: Final = "CC BY-NC 4.0"
PUBLIC: Final = "Public Domain"
UNKNOWN: Final = "unknown"

COMMERCIAL: Final = frozenset({CC0, BY, PUBLIC, "MIT"})
"""Licences that allow commercial use. An unknown one is not among them."""

_BY_START: Final = {
    "covid_19_threshold": CC0,
    "covid_threshold": CC0,
    "healthworker_interview": CC0,
    "drivers_of_food_choice": CC0,
    "ai_feedback": CC0,
    "relationship_building": CC0,
    "dc_market_manager": CC0,
    "d_c_market_manager": CC0,
    "leaders_leading": CC0,
    "biodiversity_offsetting": CC0,
    "flu_vaccination": BY,
    "wikinews": BY,
    "oyez": BY_NC,
    "national_archives_history": PUBLIC,
    "national_personnel_records": PUBLIC,
    "veterans_oral_history": PUBLIC,
    "national_archives_assembly": PUBLIC,
    "oral_history_at_the_national_archives": PUBLIC,
    "returned_peace_corps": PUBLIC,
    "voa": PUBLIC,
    # NASA's oral histories are works of the U.S. government; Table A.1 leaves the collection out.
    "jsc_oral_history": PUBLIC,
    "elicit_gym_sample": "MIT",
}


def licence_of(dialogue: Dialogue) -> str:
    """Return the licence of a dialogue: its metadata's ``licence`` where it has one, else its collection's.

    Returns:
        ``unknown`` for a collection that is not on record.
    """
    own = dialogue.metadata.get("licence") or dialogue.metadata.get("license")
    if isinstance(own, str) and own.strip():
        return own.strip()
    name = dialogue.collection.lower().replace("-", "_").replace(" ", "_").replace(".", "_")
    return next((licence for start, licence in _BY_START.items() if name.startswith(start)), UNKNOWN)
