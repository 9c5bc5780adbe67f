"""From a message and a scenario to dialogue acts: what is asked, suggested, echoed, or not understood.

The scripted user and the scripted judge read the same `Understanding`, so that they cannot disagree on what was asked.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np

from elicit_gym.scenarios.derived import plain_question
from elicit_gym.text import content_stems, stem
from elicit_gym.types import ChecklistItem, Fact, FactId, Scenario
from elicit_gym.understanding.clauses import Clause, split_clauses
from elicit_gym.understanding.dialogue_acts import ActKind, DialogueAct, Understanding
from elicit_gym.understanding.echoes import FRAME_STEMS, SURE, all_heard, confidence_needed, is_copy, says_nothing
from elicit_gym.understanding.features import (
    ADVICE_FEATURES,
    FACT_FEATURES,
    AdviceTable,
    Encoder,
    FactTable,
    Floats,
    example_clause,
    static_encoder,
)
from elicit_gym.understanding.general import general_fact
from elicit_gym.understanding.heaps import MAX_WORDS_IN_FRAGMENT, MIN_REPEATS, chunks_of, is_fragment
from elicit_gym.understanding.polarity import only_forbids, parts_of
from elicit_gym.understanding.scorer import scorers
from elicit_gym.understanding.spelling import is_known
from elicit_gym.understanding.themes import Themes
from elicit_gym.understanding.vectors import word_vectors
from elicit_gym.understanding.word_table import content_words

__all__ = ["ScenarioReader", "reader_of", "understand"]

MAX_FACTS_IN_QUESTION = 3
MAX_ADVICE_WORDS = 150
TOLD_SHARE = 0.7
THEME_CONFIDENCE = 0.9
KNOWN = 1.0
"""Confidence of an example, word for word, and of a question that means the same to every user."""
NEAR_ADVICE = 0.7
"""Similarity to an example from which on a suggestion is on the same object."""
NEAR = (0.6, 0.22)
"""A question below this confidence has to be so near to an example: words and meaning (their product)."""
_AGREES = ADVICE_FEATURES.index("agrees_with_good")
_NEARNESS = FACT_FEATURES.index("similarity_x_coverage")
SECOND_SHARE = 0.6
"""A second fact counts as asked for when its confidence is at least this share of the first's."""


class ScenarioReader:
    """One scenario, ready to read messages by.

    Args:
        scenario: with exemplars, or derived from a published one.
        encode: makes vectors of clauses; the package's own word vectors by default.
        scorers_for: which scorers read the features: those fitted for this encoder.
    """

    def __init__(
        self, scenario: Scenario, encode: Encoder = static_encoder, scorers_for: Literal["", "embedding_"] = ""
    ) -> None:
        self.scenario = scenario
        self._fact_ids = tuple(fact.id for fact in scenario.facts)
        self._facts = FactTable(
            [(*fact.questions, *_asked_by_items(fact, scenario.checklist)) for fact in scenario.facts],
            [(fact.statement, *fact.disclosures) for fact in scenario.facts],
            encode,
        )
        self.advice_items = tuple(i for i, item in enumerate(scenario.checklist) if item.kind == "advice")
        advice = [scenario.checklist[i] for i in self.advice_items]
        self._advice = (
            AdviceTable(
                [
                    (*item.suggestions, *(() if item.suggestions else (plain_question(item.question),)))
                    for item in advice
                ],
                [item.contrary for item in advice],
                [(item.topic, plain_question(item.question)) for item in advice],
                encode,
            )
            if advice
            else None
        )
        self._forbidding = np.array([any(map(only_forbids, item.suggestions)) for item in advice], dtype=np.bool_)
        self._scorers_prefix = scorers_for + ("derived_" if scenario.derived else "")
        self._hints = frozenset[str]().union(*(content_stems(h) for item in scenario.checklist for h in item.hints))
        self._opening = content_stems(scenario.opening_message)
        self._themes = Themes(scenario)
        self._vocabulary = frozenset[str]().union(
            *(content_stems(text) for f in scenario.facts for text in (f.statement, *f.disclosures, *f.questions))
        )
        self._examples = {
            example_clause(question).words: fact.id for fact in scenario.facts for question in fact.questions
        }
        self._told = {
            fact.id: tuple(content_stems(disclosure) for disclosure in fact.disclosures) for fact in scenario.facts
        }
        self._known = self._opening.union(self._hints, *(stems for told in self._told.values() for stems in told))
        # Whole messages recur between judge and user, clauses between episodes.
        self._act = lru_cache(maxsize=1_024)(self._act_of)
        self.read = lru_cache(maxsize=256)(self._read)
        self.heard = lru_cache(maxsize=1_024)(self._heard)
        self.understand = lru_cache(maxsize=1_024)(self._understand)
        self.disclosed_in = lru_cache(maxsize=1_024)(self._disclosed_in)

    def _read(self, message: str) -> tuple[tuple[DialogueAct, Clause, frozenset[str]], ...]:
        """Read a message by itself; each act with its clause and the stems of its topic words."""
        return tuple([self._act(clause) for clause in split_clauses(message)])

    def _act_of(self, clause: Clause) -> tuple[DialogueAct, Clause, frozenset[str]]:
        topic = content_stems(" ".join(content_words(clause.words)))
        if clause.form == "question":
            facts = self.facts_asked(clause)
            best = facts[0][1] if facts else 0.0
            if best < KNOWN and (self._is_list(clause) or (best < SURE and self._is_gibberish(clause, topic))):
                return DialogueAct("unclear", clause.text, wh=clause.wh), clause, topic
            advice, contrary = self.advice_given(clause) if clause.suggests else ((), False)
            meant = tuple([(fact, sure) for fact, sure in facts if sure >= SECOND_SHARE * best])
            kind: ActKind = "unclear" if len(meant) > MAX_FACTS_IN_QUESTION else "ask"
            kept = meant[:2] if kind == "ask" else ()
            return DialogueAct(kind, clause.text, kept, advice, contrary, clause.wh), clause, topic
        if clause.form == "statement":
            advice, contrary = self.advice_given(clause)
            return DialogueAct("suggest", clause.text, (), advice, contrary), clause, topic
        if clause.form == "small_talk":
            return DialogueAct("small_talk", clause.text, talk=clause.talk), clause, topic
        return DialogueAct("unclear", clause.text, wh="whether" if clause.form == "unclear" else None), clause, topic

    def fact_features(self, clause: Clause) -> Floats:
        """Return one row of features for each fact."""
        return self._facts.features(clause)

    def advice_features(self, clause: Clause) -> Floats:
        """Return one row of features for each advice item; none where there is no such item."""
        return self._advice.features(clause) if self._advice else np.zeros((0, len(ADVICE_FEATURES)), np.float32)

    def facts_asked(self, clause: Clause) -> tuple[tuple[FactId, float], ...]:
        """Return the facts that a question goes for, with confidences, the surest first."""
        example = self._examples.get(clause.words)
        if example is not None:
            return ((example, KNOWN),)
        general = general_fact(clause, self._vocabulary)
        if general is not None and general[1] == KNOWN and general[0] in self._fact_ids:
            return (general,)
        found = self._compared(clause)
        if not found or found[0][1] < SURE:
            # A plain question has too few words to be compared by: what it means by its form comes first.
            meant = self._themes.fact_of(clause.text, clause.words)
            if meant is not None:
                return ((meant, THEME_CONFIDENCE),)
            if general is not None and general[0] in self._fact_ids:
                return (general,)
        return found

    def _compared(self, clause: Clause) -> tuple[tuple[FactId, float], ...]:
        """Return the facts whose examples and words a question is like."""
        scorer = scorers()[self._scorers_prefix + "fact"]
        rows = self._facts.features(clause)
        scores = scorer(rows)
        found = np.flatnonzero(scores >= (SURE if clause.claims else scorer.threshold))
        if not self.scenario.derived:
            found = found[(scores[found] >= NEAR[0]) | (rows[found, _NEARNESS] >= NEAR[1])]
        return tuple([(self._fact_ids[j], float(scores[j])) for j in found[np.argsort(-scores[found])]])

    def advice_given(self, clause: Clause) -> tuple[tuple[tuple[int, float], ...], bool]:
        """Return the advice items that a suggestion meets, and whether it goes against one instead."""
        if self._advice is None or not clause.words:
            return (), False
        scorer = scorers()[self._scorers_prefix + "advice"]
        scores, near = np.zeros(len(self.advice_items), dtype=np.float32), False
        for part, against in parts_of(clause):
            rows = self._advice.features(part)
            # "Never try X" is no way to suggest X, however near the words are, unless that is the advice.
            kept = self._forbidding & (rows[:, _AGREES] > 0) if against else True
            scores = np.maximum(scores, np.where(kept, scorer(rows), np.float32(0)))
            near = near or bool((rows[:, :2].max(axis=1) >= NEAR_ADVICE).any())
        # A clause is one suggestion: of several items that it might meet, it meets the one that it fits best.
        best = int(scores.argmax())
        met = [(self.advice_items[best], float(scores[best]))] if scores[best] >= scorer.threshold else []
        return tuple(met), near and not met

    def _is_list(self, clause: Clause) -> bool:
        """Say whether the clause strings together three matters or more: chunks that go for different facts.

        "Is it the oven, the table or the wiring?" offers options; "what about the money, the rules, the date?" is a
        list even where the scenario has nothing to do with two of them.
        """
        chunks = chunks_of(clause.text)
        if len(chunks) < MIN_REPEATS:
            return False
        bare = clause.probe == "more" or is_fragment(clause.words, limit=len(clause.words))
        if bare and all(len(chunk) <= MAX_WORDS_IN_FRAGMENT for chunk in chunks):
            return True
        asked = set()
        for chunk in chunks[:12]:
            found = self.facts_asked(replace(clause, words=tuple(chunk), wh="request", probe=None))
            if found:
                asked.add(found[0][0])
        return len(asked) >= MIN_REPEATS

    def _is_gibberish(self, clause: Clause, topic: frozenset[str]) -> bool:
        """Say whether a question is about nothing that has a name: no topic at all, or one of unknown words only."""
        if not topic:
            return is_fragment(clause.words)
        if not says_nothing(clause, topic):
            return False
        own = topic - FRAME_STEMS
        if not own or not own.isdisjoint(self._known):
            return False
        vectors = word_vectors()
        return not any(is_known(word) or stem(word) in vectors for word in content_words(clause.words))

    def _heard(self, user_message: str, disclosed: frozenset[FactId]) -> tuple[frozenset[str], frozenset[str]]:
        """Return the stems of what the user has said lately, and of what else may have been said: facts and hints."""
        lately = self._opening | content_stems(user_message)
        return lately, lately.union(self._hints, *(stems for fact in disclosed for stems in self._told.get(fact, ())))

    def _understand(self, message: str, user_message: str, disclosed: frozenset[FactId]) -> Understanding:
        """Read one message of the agent's.

        Args:
            message: the agent's.
            user_message: the one that it answers; words handed back to the user are an echo.
            disclosed: ids of the facts that the user has given away; likewise.
        """
        read = self.read(message)
        if not read:
            return Understanding((), 0)
        heard = self.heard(user_message, disclosed)
        said = [word for _, clause, _ in read for word in clause.words]
        copied = any(is_copy(said, text) for text in (user_message, self.scenario.opening_message) if text)
        acts = [_in_context(act, clause, topic, heard, copied) for act, clause, topic in read]
        if not copied and "request" in self._told and "request" not in disclosed:
            acts = [_about_the_opening(act) for act in acts]
        if all(act.wh is None for act in acts):
            acts = [self._more(act, user_message, disclosed) for act in acts]
        return Understanding(tuple(acts), len(said))

    def _more(self, act: DialogueAct, user_message: str, disclosed: frozenset[FactId]) -> DialogueAct:
        """Read a wish to hear more: of what the user has just told, or of what it is about."""
        if act.talk != "more":
            return act
        told = next(iter(sorted(self.disclosed_in(user_message) & disclosed)), None)
        if told is None and "request" in self._told and "request" not in disclosed:
            told = "request"
        return act if told is None else replace(act, kind="more", facts=((told, KNOWN),), wh="request")

    def _disclosed_in(self, text: str) -> frozenset[FactId]:
        """Return the ids of the facts that this message of the user's gives away.

        A disclosure is recognised by 70 % of its content words; one of a single content word by 70 % of all its words.
        """
        stems, spoken = content_stems(text), _words_of(text)
        found = []
        for fact, disclosures in self._told.items():
            for told, sentence in zip(disclosures, self.scenario.fact(fact).disclosures, strict=True):
                shared = len(told & stems)
                if shared >= 2 and shared >= TOLD_SHARE * len(told):
                    found.append(fact)
                    break
                if shared == len(told) < 2:
                    words = _words_of(sentence)
                    if len(words & spoken) >= TOLD_SHARE * len(words):
                        found.append(fact)
                        break
        return frozenset(found)

    def is_told_in_full(self, fact: FactId, texts: Iterable[str]) -> bool:
        """Say whether one of these messages of the user's has what only the fuller account of a fact adds."""
        short, fuller = self._told[fact]
        added = fuller - short
        return any(len(added & content_stems(text)) >= TOLD_SHARE * len(added) for text in texts)


def understand(
    message: str, scenario: Scenario, *, user_message: str = "", disclosed: frozenset[FactId] = frozenset()
) -> Understanding:
    """Read one message of the agent's with the package's own understanding; see `ScenarioReader.understand`."""
    return reader_of(scenario).understand(message, user_message, disclosed)


def _in_context(
    act: DialogueAct, clause: Clause, topic: frozenset[str], heard: tuple[frozenset[str], frozenset[str]], copied: bool
) -> DialogueAct:
    if act.kind not in ("ask", "suggest"):
        return act
    if copied:
        return replace(act, kind="echo", advice=())
    is_general = bool(act.facts) and act.facts[0][1] == KNOWN and clause.probe != "more"
    # Good advice is in the user's words too; it is handed back only when all of them were said lately.
    advises = bool(act.advice) and act.advice[0][1] >= SURE and not all_heard(topic - FRAME_STEMS, heard[0])
    if topic and not is_general and not advises:
        needed = confidence_needed(clause, topic, *heard)
        if needed and (act.facts or needed > 1.0) and (act.facts[0][1] if act.facts else 0.0) < needed:
            return replace(act, kind="echo", advice=())
    return act


def _about_the_opening(act: DialogueAct) -> DialogueAct:
    """Let who asks about the user's own words hear what it is about: "what is it that you have to begin?"."""
    clarifies = act.kind == "echo" and act.wh not in (None, "whether", "request")
    return replace(act, facts=(("request", KNOWN),)) if clarifies else act


@lru_cache(maxsize=4_096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(word for clause in split_clauses(text) for word in clause.words)


def _asked_by_items(fact: Fact, checklist: Iterable[ChecklistItem]) -> list[str]:
    return [plain_question(i.question) for i in checklist if i.kind == "ask" and i.facts == (fact.id,)]


@lru_cache(maxsize=2_048)
def reader_of(scenario: Scenario) -> ScenarioReader:
    """Return the reader of a scenario; the latest two thousand are kept."""
    return ScenarioReader(scenario)
