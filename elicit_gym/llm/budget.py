"""A run's budget of money and tokens: it stops the starting of episodes, and keeps what is paid for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from elicit_gym.errors import BudgetExceeded, SettingError
from elicit_gym.llm.spending import Account, Episode, EpisodeCost, Ledger, Spent

__all__ = ["Budget"]

UNSURE = 20.0
"""Set aside for an episode before that: so many times what the estimate says, since models may think at length."""
SURE_AFTER = 3
"""Finished episodes of a policy after which the dearest of them says what one costs, and no estimate any more."""
MARGIN = 1.1
"""Set aside for an episode: so much of what the dearest one has cost."""


Cost = tuple[float, float]
"""Tokens and US dollars."""

NOTHING: Cost = (0.0, 0.0)


@dataclass(slots=True)
class _Known:
    """What is known of the cost of a policy's episodes."""

    estimate: Cost = NOTHING
    dearest: Cost = NOTHING
    count: int = 0

    def reserve(self, *, alone: bool = False) -> Cost:
        """Return what to set aside for an episode; alone, nobody else loses by one that is dearer than those before."""
        # What was only begun has cost less than a whole one does.
        factor = MARGIN if self.count else 2.0
        known = (factor * self.dearest[0], factor * self.dearest[1])
        if alone or self.count >= SURE_AFTER:
            return known
        return _larger(known, (UNSURE * self.estimate[0], UNSURE * self.estimate[1]))


class Budget:
    """Lets a run spend no more than it may; safe from several threads.

    An episode is started only if what it is likely to cost is left beside what those under way still need: for each of
    them as much is set aside as the dearest of its policy has cost, or, before there are any, as an estimate says. What
    is started therefore finishes. Where an episode needs more than that, the ones that were started first keep what is
    set aside for them, and the youngest ends. Outside of a run, calls are refused once the budget is spent.

    Args:
        usd: the limit in US dollars; None for no limit. With a limit, a call whose price is unknown ends the run.
        tokens: the limit in tokens, input and output together; None for no limit.

    Attributes:
        ledger: what was spent, also without a limit.

    Raises:
        SettingError: a limit is not above 0.
    """

    def __init__(self, usd: float | None = None, tokens: int | None = None) -> None:
        for name, limit in (("usd", usd), ("tokens", tokens)):
            if limit is not None and not limit > 0:
                raise SettingError(f"Setting a budget: expected {name} above 0, got {limit!r}. Raise it.")
        self.usd, self.tokens = usd, tokens
        self.ledger = Ledger()
        self._lock = Lock()
        self._before: dict[str, Spent] = {}
        self._under_way: dict[Episode, Cost] = {}
        self._known: dict[str, _Known] = {}
        self._in_flight: Counter[tuple[Account, Episode | None]] = Counter()
        self._dearest_call: dict[Account, Cost] = {}

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.usd is not None or self.tokens is not None

    def count_before(self, run: str, spent: Spent) -> None:
        """Count what a run has spent before this process; once for each run, whoever says it again.

        Args:
            run: the run's folder.
            spent: by its manifest; nothing for a new run.
        """
        with self._lock:
            self._before.setdefault(run, spent)

    def expect(self, policy: str, estimate: Cost) -> None:
        """Say what an episode of a policy may cost that is played to its last turn, for as long as none has finished.

        Args:
            policy: its name.
            estimate: in tokens and dollars.
        """
        with self._lock:
            self._known.setdefault(policy, _Known()).estimate = estimate

    def learn(self, costs: Sequence[EpisodeCost]) -> None:
        """Learn what episodes have cost in earlier processes."""
        with self._lock:
            for cost in costs:
                known = self._known.setdefault(cost.policy, _Known())
                known.dearest = _larger(known.dearest, (cost.tokens, cost.cost_usd))
                known.count = max(known.count, SURE_AFTER * cost.whole)

    def learned(self, policies: Sequence[str]) -> tuple[EpisodeCost, ...]:
        """Return what is known of the cost of these policies' episodes, for those where something is."""
        with self._lock:
            found = [(policy, self._known[policy]) for policy in policies if policy in self._known]
        return tuple(
            EpisodeCost(policy=policy, tokens=known.dearest[0], cost_usd=known.dearest[1], whole=known.count > 0)
            for policy, known in found
            if known.dearest != NOTHING
        )

    def start(self, episode: Episode) -> bool:
        """Set aside what an episode may need. Returns whether as much is left; if not, it must not be started.

        Where none is under way, the first one of a policy may start on whatever is left: it shows what one costs.
        """
        with self._lock:
            if self.limited:
                known = self._known.setdefault(episode[0], _Known())
                tokens, usd = self._left(list(self._under_way))
                needed = known.reserve(alone=not self._under_way)
                if tokens <= 0 or usd <= 0 or tokens < needed[0] or usd < needed[1]:
                    return False
            self._under_way[episode] = NOTHING
            return True

    def finish(self, episode: Episode, *, whole: bool) -> None:
        """Release what was set aside for an episode, and learn from what it has cost.

        Args:
            episode: that has ended.
            whole: whether it was played to its end; one that was not shows the least that one costs.
        """
        with self._lock:
            spent = self._under_way.pop(episode, None)
            if spent is not None:
                known = self._known.setdefault(episode[0], _Known())
                known.dearest = _larger(known.dearest, spent)
                known.count += whole

    @contextmanager
    def call(self, account: Account, episode: Episode | None = None) -> Iterator[None]:
        """Let a call be made within the block, unless what is left is spent, or needed by episodes started before.

        Args:
            account: who makes it.
            episode: that it is for; None where that is not known.

        Raises:
            BudgetExceeded: it must not be made.
        """
        if not self.limited:
            yield
            return
        self._check_prices_known()
        key = (account, episode)
        with self._lock:
            started = list(self._under_way)
            older = started[: started.index(episode)] if episode in self._under_way else []
            tokens, usd = self._left(older)
            if tokens > 0 and usd > 0:
                self._in_flight[key] += 1
        if tokens <= 0 or usd <= 0:
            raise BudgetExceeded(self.reason())
        try:
            yield
        finally:
            with self._lock:
                self._in_flight[key] -= 1
                if not self._in_flight[key]:
                    del self._in_flight[key]

    def _check_prices_known(self) -> None:
        unpriced = self.usd is not None and self.ledger.total.unpriced_calls > 0
        if unpriced:
            model = next(model for model, spent in self.ledger.by_model().items() if spent.unpriced_calls)
            raise BudgetExceeded(
                f"Keeping to a budget of ${self.usd:g}: expected known prices, got none for {model}. Give one "
                f"(--price {model}=IN/OUT), or limit the tokens instead (--budget-tokens)."
            )

    def charge(self, account: Account, spent: Spent, episode: Episode | None = None) -> None:
        """Count what a call has cost.

        Args:
            account: who made it.
            spent: what it has cost.
            episode: that it was for; None where several are played in one batch, which then share the cost.
        """
        self.ledger.add(account, spent)
        with self._lock:
            cost = (float(spent.tokens), spent.cost_usd)
            self._dearest_call[account] = _larger(self._dearest_call.get(account, NOTHING), cost)
            payers = list(self._under_way) if episode is None else [e for e in (episode,) if e in self._under_way]
            for payer in payers:
                tokens, usd = self._under_way[payer]
                self._under_way[payer] = (tokens + spent.tokens / len(payers), usd + spent.cost_usd / len(payers))

    def reason(self) -> str:
        """Return why no more is started, in one sentence or two."""
        spent = self._spent()
        limits = [f"${self.usd:g}"] if self.usd is not None else []
        limits += [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        shown = f"${spent.cost_usd:.4f}" if self.tokens is None else f"{spent.tokens:,} tokens"
        if self.usd is not None and self.tokens is not None:
            shown += f" and ${spent.cost_usd:.4f}"
        return (
            f"Keeping to a budget of {' and '.join(limits)}: {shown} are spent, and what is left is less than an "
            "episode may cost."
        )

    def shortfall(self, tokens: float, usd: float) -> str | None:
        """Return a sentence on what an estimate says of the budget, None where it suffices."""
        shares = [self.tokens / tokens] if self.tokens is not None and tokens else []
        shares += [self.usd / usd] if self.usd is not None and usd else []
        if not shares or min(shares) >= 1:
            return None
        return (
            f"By this estimate the budget suffices for {100 * min(shares):.0f} % of the episodes; then the run stops."
        )

    def _spent(self) -> Spent:
        return sum(self._before.values(), self.ledger.total)

    def _left(self, started: list[Episode]) -> Cost:
        """Return what is neither spent, nor being spent by calls under way, nor set aside for these episodes."""
        spent = self._spent()
        tokens = float("inf") if self.tokens is None else float(self.tokens - spent.tokens)
        usd = float("inf") if self.usd is None else self.usd - spent.cost_usd
        being_paid: dict[Episode | None, Cost] = {}
        for (account, payer), count in self._in_flight.items():
            call, before = self._dearest_call.get(account, NOTHING), being_paid.get(payer, NOTHING)
            being_paid[payer] = (before[0] + count * call[0], before[1] + count * call[1])
            tokens, usd = tokens - count * call[0], usd - count * call[1]
        for episode in started:
            needed, paid = self._known.setdefault(episode[0], _Known()).reserve(), self._under_way[episode]
            soon = being_paid.get(episode, NOTHING)
            tokens -= max(0.0, needed[0] - paid[0] - soon[0])
            usd -= max(0.0, needed[1] - paid[1] - soon[1])
        return tokens, usd


def _larger(one: Cost, other: Cost) -> Cost:
    return max(one[0], other[0]), max(one[1], other[1])
