"""The published conversations (`chats-<user>-<assistant>-<judge>-<seed>.jsonl`) as episode records."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elicit_gym.episode import Episode, EpisodeRecord, Turn
from elicit_gym.errors import StorageError
from elicit_gym.json_files import read_lines
from elicit_gym.strict_json import typed

__all__ = ["load_published_chats", "policy_of_chats"]

MOST_INVALID = 1_000
"""Replies of a judge that could not be read, per message: whoever says more has not counted them."""


def policy_of_chats(path: Path) -> str:
    """Return the name of the policy from a chats file's name: the part between the user's and the judge's model."""
    parts = path.stem.split("-")
    return parts[2] if len(parts) >= 5 else path.stem


def load_published_chats(path: str | Path, opening_messages: Mapping[str, str]) -> list[EpisodeRecord]:
    """Read a chats file.

    A history in it is the simulator's side: system first, then the policy in the role ``user`` and the simulated user
    in the role ``assistant``; the opening message is not in it. The reply after the last message, if there is one, is
    dropped, since nobody read it. Verdicts are taken from the evaluations, where an answer may be a boolean, "Yes" or
    "No", or an object that holds one.

    Args:
        path: the file.
        opening_messages: the opening message by scenario id (``<row id>-<1 or 2>``).

    Returns:
        One record for each conversation, in the order of the ids. Conversations without a judged message are left out.

    Raises:
        StorageError: a row cannot be read; the error names the first one.
    """
    path = Path(path)
    records = []
    for line, row in read_lines(path):
        for k in (1, 2):
            try:
                if row[f"evaluations{k}"]:
                    records.append((typed(int, row["id"], "id"), k, _record(path, row, k, opening_messages)))
            except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
                raise StorageError(
                    f"{path}:{line}: expected a published conversation in user_history{k} and evaluations{k}, "
                    f"got {type(error).__name__}: {error}. Fix the line."
                ) from error
    return [record for *_, record in sorted(records, key=lambda entry: entry[:2])]


def _record(path: Path, row: Mapping[str, Any], k: int, opening_messages: Mapping[str, str]) -> EpisodeRecord:
    scenario_id = f"{row['id']}-{k}"
    messages = [m for m in typed(list, row[f"user_history{k}"], "history") if m["role"] != "system"]
    evaluations = typed(list, row[f"evaluations{k}"], "evaluations")
    actions = [_content(m) for m in messages if m["role"] == "user"][: len(evaluations)]
    replies = [_content(m) for m in messages if m["role"] == "assistant"]
    turns = []
    satisfied: set[int] = set()
    total = 0.0
    for i, (action, evaluation) in enumerate(zip(actions, evaluations, strict=True)):
        answers = [_answer(value) for value in evaluation["questions"].values()]
        newly = tuple(j for j, yes in enumerate(answers) if yes and j not in satisfied)
        satisfied.update(newly)
        reward = typed(float, evaluation["total_reward"], "total_reward") - total
        total += reward
        invalid = typed(int, evaluation.get("invalid_responses") or 0, "invalid_responses")
        if not 0 <= invalid <= MOST_INVALID:
            raise ValueError(f"invalid_responses: expected at most {MOST_INVALID}, got {invalid}")
        turns.append(
            Turn(
                action=action,
                reply=replies[i] if i < len(actions) - 1 and i < len(replies) else None,
                reward=reward,
                newly_satisfied=newly,
                flags=("judge:invalid_response",) * invalid,
            )
        )
    done = bool(evaluations and evaluations[-1]["done"])
    return EpisodeRecord(
        policy=policy_of_chats(path),
        env_id="infoquest/published",
        scenario_id=scenario_id,
        repeat=_seed(path),
        seed=_seed(path),
        episode=Episode(
            opening_message=opening_messages.get(scenario_id, ""),
            turns=tuple(turns),
            terminated=done,
            truncated=not done,
        ),
    )


def _content(message: Mapping[str, Any]) -> str:
    return str(typed(str | None, message["content"], "content") or "")


def _seed(path: Path) -> int:
    last = path.stem.rsplit("-", 1)[-1]
    return int(last) if last.isascii() and last.isdigit() else 0


def _answer(value: object) -> bool:
    """Read one answer; its inner form is not documented."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().lower().rstrip(".!")
        if word in ("yes", "true", "no", "false", ""):
            return word in ("yes", "true")
        raise ValueError(f"an answer {value!r}")
    if isinstance(value, Mapping):
        for key in ("result", "answer", "satisfied", "value", "done", "response"):
            if key in value:
                return _answer(value[key])
    if value is None:
        return False
    raise ValueError(f"an answer {value!r}")
