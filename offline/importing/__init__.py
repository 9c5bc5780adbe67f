"""Transcripts of one's own, in the usual formats, as dialogues of the schema; nothing is lost on the way."""

from elicit_gym.offline.importing.api import (
    import_transcript,
    import_transcripts,
    transcript_files,
    write_transcripts,
)
from elicit_gym.offline.importing.build import ImportedTranscript, LeftOut
from elicit_gym.offline.importing.roles import SpeakerReview

__all__ = [
    "ImportedTranscript",
    "LeftOut",
    "SpeakerReview",
    "import_transcript",
    "import_transcripts",
    "transcript_files",
    "write_transcripts",
]
