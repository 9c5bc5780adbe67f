"""The options of the seats in one grammar, ``--{policy,user,judge}-{model,api-base,...}``, and those of all calls."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from elicit_gym.cli import model_options as m
from elicit_gym.errors import SettingError
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.cache import CacheMode, ResponseCache
from elicit_gym.llm.prices import parse_prices
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.registry import JUDGES, REGISTRIES
from elicit_gym.rollout.units import environment_defaults

__all__ = [
    "CallOptions",
    "SeatName",
    "SeatOptions",
    "models",
    "seat_kwargs",
    "takes_calls",
    "takes_seats",
    "without_judge_replies",
]

SeatName = Literal["policy", "user", "judge"]
_SEATS: dict[SeatName, str] = {"policy": "policy", "user": "user simulator", "judge": "judge"}
_WHOSE = {"policy": "a policy's", "user": "the user's", "judge": "the judge's"}
_MODEL_HELP = {
    "policy": "Compare this model, too, called as --policy-transport says.",
    "user": "Let this model play the user; 'paper' stands for the paper's own.",
    "judge": "Let this model judge; 'paper' stands for the paper's own.",
}


@dataclass(frozen=True, kw_only=True)
class SeatOptions:
    """How the model in one seat is called; None for what was not given.

    Attributes:
        model: its name.
        api_base: the server.
        temperature: of sampling.
        max_tokens: of a message.
        timeout: in seconds.
        api_key_env: the environment variable with the key.
        transport: through what it is called.
    """

    model: str | None = None
    api_base: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    api_key_env: str | None = None
    transport: Literal["litellm", "http"] | None = None

    def given(self) -> dict[str, Any]:
        """Return what was given, as arguments of `elicit_gym.llm.make.make_chat_model`."""
        return {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name) is not None}


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """What goes for all calls to models, whatever the seat.

    Attributes:
        cache: the file of responses.
        cache_mode: how it is used.
        budget_usd: the limit in US dollars.
        budget_tokens: the limit in tokens.
        price: as the user writes them.
    """

    cache: Path | None = None
    cache_mode: CacheMode = "read-write"
    budget_usd: float | None = None
    budget_tokens: int | None = None
    price: Sequence[str] | None = None

    @property
    def budget(self) -> Budget:
        """A new budget with these limits."""
        return Budget(self.budget_usd, self.budget_tokens)


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def takes_seats(*seats: SeatName) -> Decorator:
    """Give a command the options of these seats; its argument ``seats`` maps each of them to its `SeatOptions`.

    Args:
        seats: in the order in which the help shows them.
    """
    params = {f"{seat}_{name}": param for seat in seats for name, param in _seat_params(seat).items()}

    def build(values: Mapping[str, Any]) -> dict[str, SeatOptions]:
        return {
            seat: SeatOptions(**{each.name: values[f"{seat}_{each.name}"] for each in fields(SeatOptions)})
            for seat in seats
        }

    return _takes("seats", params, build)


def takes_calls(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of cache, budget and prices; its argument ``calls`` gets the `CallOptions`."""
    params = {
        "cache": (m.CacheOption, None),
        "cache_mode": (m.CacheModeOption, "read-write"),
        "budget_usd": (m.BudgetUsdOption, None),
        "budget_tokens": (m.BudgetTokensOption, None),
        "price": (m.PriceOption, None),
    }
    made = {
        name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)
        for name, (hint, default) in params.items()
    }
    return _takes("calls", made, lambda values: CallOptions(**values))(command)


def _takes(argument: str, params: Mapping[str, inspect.Parameter], build: Callable[[dict[str, Any]], Any]) -> Decorator:
    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)

        @wraps(command)
        def run(**given: Any) -> None:
            values = {name: given.pop(name) for name in params}
            command(**{argument: build(values)}, **given)

        others = [p.replace(kind=p.KEYWORD_ONLY) for p in own.parameters.values() if p.name != argument]
        run.__signature__ = own.replace(parameters=[*others, *params.values()])  # type: ignore[attr-defined]
        return run

    return decorate


def _seat_params(seat: SeatName) -> dict[str, inspect.Parameter]:
    whose = _WHOSE[seat]
    helps: dict[str, tuple[Any, str, dict[str, Any]]] = {
        "model": (str | None, _MODEL_HELP[seat], {}),
        "api_base": (
            str | None,
            f"Call {whose} model on the server at this URL, for example http://localhost:8000/v1.",
            {},
        ),
        "temperature": (float | None, f"Sample the words of {whose} model at this temperature.", {"min": 0}),
        "max_tokens": (int | None, f"Let {whose} model write at most this many tokens per message.", {"min": 1}),
        "timeout": (float | None, f"Wait at most this many seconds for an answer of {whose} model.", {"min": 0}),
        "api_key_env": (str | None, f"Take the key of {whose} model from the environment variable of this name.", {}),
        "transport": (
            Literal["litellm", "http"] | None,
            f"Call {whose} model through litellm, or by plain HTTP on an OpenAI-compatible server.",
            {},
        ),
    }
    title = f"The {_SEATS[seat]}'s model"
    return {
        name: inspect.Parameter(
            f"{seat}_{name}",
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                hint, typer.Option(f"--{seat}-{name.replace('_', '-')}", help=text, rich_help_panel=title, **more)
            ],
        )
        for name, (hint, text, more) in helps.items()
    }


def seat_kwargs(
    seat: Literal["user_simulator", "judge"],
    name: str | None,
    options: SeatOptions,
    *,
    env: str | None,
    prompts: Path | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Turn the options of a seat into arguments of the environment.

    Args:
        seat: of the environment.
        name: who takes it; None for whoever the environment has there.
        options: of this seat.
        env: its id; None where there is no environment.
        prompts: for every seat that takes it.
        more: further options of this seat, such as ``mode``; None for what was not given.

    Raises:
        SettingError: an option is given for a seat that does not take it.
    """
    own = environment_defaults(env) if env is not None else {}
    who = name or own.get(seat)
    if not isinstance(who, str):
        return {}  # an environment without such a seat, which is refused where it is made
    taken = inspect.signature(REGISTRIES[seat.replace("_", " ")].factory(who)).parameters
    # Whatever else a maker of models takes, it hands on to `make_chat_model`.
    anything = "model" in taken and any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    given = {**options.given(), **{key: value for key, value in more.items() if value is not None}}
    word = "user" if seat == "user_simulator" else "judge"
    for key in given:
        if not anything and key not in taken:
            raise SettingError(
                f"Setting up the {seat.replace('_', ' ')}: expected a seat that takes --{word}-"
                f"{key.replace('_', '-')}, got {who!r}. Add --{word} llm, or --env elicit_gym/InfoQuestLLM-v0."
            )
    if prompts is not None and (anything or "prompts" in taken):
        given["prompts"] = str(prompts.resolve())
    made: dict[str, Any] = {seat: name} if name is not None else {}
    before = own.get(f"{seat}_kwargs") or {}
    if given or (before and who != own.get(seat)):  # the arguments of one part are not those of another
        made[f"{seat}_kwargs"] = {**(before if who == own.get(seat) else {}), **given}
    return made


def without_judge_replies(kwargs: Mapping[str, Any], env: str | None) -> dict[str, Any]:
    """Return the arguments of an environment whose judge does not hand its raw replies on.

    Args:
        kwargs: the arguments so far.
        env: its id; None where there is no environment.
    """
    own = environment_defaults(env) if env is not None else {}
    who = kwargs.get("judge", own.get("judge"))
    if not isinstance(who, str) or "keep_replies" not in inspect.signature(JUDGES.factory(who)).parameters:
        return dict(kwargs)  # such a judge writes nothing
    before = kwargs.get("judge_kwargs", own.get("judge_kwargs") if who == own.get("judge") else None) or {}
    return {**kwargs, "judge_kwargs": {**before, "keep_replies": False}}


@contextmanager
def models(concurrency: int, calls: CallOptions) -> Iterator[Runtime]:
    """Apply cache, budget, prices and concurrency to all calls to models within the block."""
    if calls.cache is None and calls.cache_mode == "replay":
        raise SettingError("Replaying: expected the file to replay from, got none. Name it with --cache.")
    prices, budget = parse_prices(calls.price or ()), calls.budget
    store = ResponseCache(calls.cache, calls.cache_mode) if calls.cache is not None else None
    try:
        runtime = Runtime(
            concurrency=max(64, 6 * concurrency),
            model_concurrency=max(64, 6 * concurrency),
            cache=store,
            budget=budget,
            prices=prices,
        )
        with llm_runtime(runtime):
            yield runtime
    finally:
        if store is not None:
            store.close()
