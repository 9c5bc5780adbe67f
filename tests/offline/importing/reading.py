"""Shared by the tests of importing: write a file, read it, and see what was said."""

from pathlib import Path
from typing import Any

from elicit_gym.errors import ElicitGymError
from elicit_gym.offline.importing import ImportedTranscript, import_transcript

Said = list[tuple[str, str]]


def read(folder: Path, name: str, content: str | bytes, **settings: Any) -> ImportedTranscript:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return import_transcript(path, **settings)


def outcome(path: Path, **settings: Any) -> ImportedTranscript | str:
    """Import, and return the transcript or the sentence that refuses it."""
    try:
        return import_transcript(path, **settings)
    except ElicitGymError as error:
        return str(error)


def said(transcript: ImportedTranscript, number: int = 0) -> Said:
    return [(turn.speaker, turn.utterance) for turn in transcript.dialogues[number].turns]


def times(transcript: ImportedTranscript) -> list[str]:
    return [turn.timestamp for turn in transcript.dialogues[0].turns]


def roles(transcript: ImportedTranscript) -> dict[str, str]:
    return {row.speaker: row.role for row in transcript.review}


def left_out(transcript: ImportedTranscript) -> dict[str, int]:
    return {entry.what: entry.count for entry in transcript.left_out}


def kept(transcript: ImportedTranscript) -> dict[str, list[str]]:
    return dict(transcript.dialogues[0].metadata.get("left_out", {}))


def small_pdf(pages: list[list[str]]) -> bytes:
    """Write a PDF with text, by hand."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, lines in enumerate(pages):
        text = "BT /F1 12 Tf 72 720 Td 16 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream")
    out, offsets = "%PDF-1.4\n", []
    for i, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{i} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{o:010d} 00000 n \n" for o in offsets)
    return (out + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF").encode()
