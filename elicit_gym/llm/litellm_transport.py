"""Calls through litellm to any provider that it knows. This is the only file that imports litellm."""

import os
from collections.abc import Mapping
from typing import Any

from elicit_gym.errors import MissingExtraError
from elicit_gym.llm.reachability import check_reachable, hint_at_path
from elicit_gym.llm.refusals import failure_kind
from elicit_gym.llm.reply_fields import number_or_none, parse_retry_after
from elicit_gym.llm.transport import RawReply, TransportError, split_user
from elicit_gym.redaction import redact_message

__all__ = ["LiteLLMTransport", "price_usd"]

_litellm: Any = None


def _load() -> Any:
    """Import litellm at first use: that takes seconds, and fetches prices from the network unless told not to."""
    global _litellm
    if _litellm is None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            import litellm
        except ImportError as error:
            raise MissingExtraError("Calling a language model", "llm") from error
        litellm.suppress_debug_info = True
        litellm.drop_params = True  # providers that do not know `seed` get requests without it
        litellm.telemetry = False
        _litellm = litellm
    return _litellm


def price_usd(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return what these tokens cost, or None if litellm knows no price for the model."""
    litellm = _load()
    try:
        prompt, completion = litellm.cost_per_token(
            model=model, prompt_tokens=input_tokens, completion_tokens=output_tokens
        )
    except Exception:  # litellm raises a plain Exception for a model whose price it does not know
        return None
    # For a server of one's own, litellm's map has the price 0 if any: that is not a known price either.
    if prompt + completion == 0 and input_tokens + output_tokens == 0:
        return None if price_usd(model, 1, 1) is None else 0.0
    return float(prompt + completion) or None


class LiteLLMTransport:
    """One model behind litellm.

    Args:
        model: litellm's name, for example ``openai/gpt-4o-mini`` or ``hosted_vllm/AtlaAI/Selene-1-Mini-Llama-3.1-8B``.
        api_base: the URL of a server of your own.
        api_key_env: the environment variable that holds the key, if it is not the one that litellm reads. Keys are
            never arguments, since arguments go into manifests.
        timeout: the time limit of a call, in seconds.
    """

    def __init__(self, model: str, *, api_base: str | None, api_key_env: str | None, timeout: float) -> None:
        self.model = model
        self._api_base, self._user = split_user(api_base)
        self._api_key_env = api_key_env
        self._timeout = timeout

    def _key(self) -> str | None:
        if self._api_key_env is None:
            # litellm requires a key for any OpenAI-compatible server, even if the server needs none.
            return "none" if self._api_base and not os.environ.get("OPENAI_API_KEY") else None
        key = os.environ.get(self._api_key_env)
        if not key:
            raise TransportError(
                f"Calling {self.model}: expected a key in ${self._api_key_env}, got none. Set the variable.", "hopeless"
            )
        return key

    def check(self) -> None:
        """Raise if the key is missing or the server cannot be reached."""
        litellm = _load()
        key = self._key()
        try:
            litellm.get_llm_provider(self.model, api_base=self._api_base)
        except Exception as error:
            raise TransportError(
                f"Calling {self.model!r}: expected a model name that litellm knows, such as openai/gpt-4o-mini, "
                f"got one without a known provider. Check the name.",
                "hopeless",
            ) from error
        if self._api_base:
            check_reachable(self.model, self._api_base)
        elif self.model.startswith("hosted_vllm/") and not os.environ.get("HOSTED_VLLM_API_BASE"):
            raise TransportError(
                f"Calling {self.model}: expected the api_base of a vLLM server, got none. Start one "
                f"(vllm serve {self.model.removeprefix('hosted_vllm/')}) and give its api_base, or set "
                "$HOSTED_VLLM_API_BASE.",
                "hopeless",
            )
        elif key is None:
            found = litellm.validate_environment(self.model)
            missing = [name for name in found.get("missing_keys") or () if "BASE" not in name]
            if missing and not found.get("keys_in_environment"):
                raise TransportError(
                    f"Calling {self.model}: expected a key in ${missing[0]}, got none. Set the variable, or give the "
                    "api_base of a server of your own.",
                    "hopeless",
                )

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return what these tokens cost by litellm's own list of prices."""
        return price_usd(self.model, input_tokens, output_tokens)

    def takes_schema(self) -> bool:
        """Say whether litellm knows that the model accepts a JSON schema; of a server of one's own it knows nothing."""
        return not self._api_base and bool(_load().supports_response_schema(self.model))

    async def send(self, messages: list[dict[str, str]], parameters: Mapping[str, Any]) -> RawReply:
        """Send one request."""
        litellm = _load()
        if self._user:
            parameters = {**parameters, "extra_headers": {**(parameters.get("extra_headers") or {}), **self._user}}
        try:
            reply = await litellm.acompletion(
                model=self.model,
                messages=messages,
                api_base=self._api_base,
                api_key=self._key(),
                timeout=self._timeout,
                num_retries=0,
                max_retries=0,
                **parameters,
            )
        except TransportError:
            raise
        except Exception as error:
            raise self._explain(error) from None  # the original may hold a key
        return self._unpack(reply)

    def _unpack(self, reply: Any) -> RawReply:
        try:
            choice = reply.choices[0]
            content, reasoning = choice.message.content, getattr(choice.message, "reasoning_content", None)
            usage = getattr(reply, "usage", None)
            input_tokens = number_or_none(getattr(usage, "prompt_tokens", None))
            output_tokens = number_or_none(getattr(usage, "completion_tokens", None))
        except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError) as error:
            raise TransportError(f"Calling {self.model}: the answer has no choices.", "passing") from error
        return RawReply(
            content=content,
            reasoning=reasoning,
            finish_reason=str(choice.finish_reason or "stop"),
            model=self.model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
        )

    def _explain(self, error: Exception) -> TransportError:
        status = getattr(error, "status_code", None)
        kind = type(error).__name__
        retry_after = None
        headers = getattr(getattr(error, "response", None), "headers", None)
        if headers is not None:
            retry_after = parse_retry_after(headers.get("retry-after"))
        status = status if isinstance(status, int) else None
        # litellm reports a dropped connection, a broken answer and a real 500 all as status 500.
        own = kind in ("ContextWindowExceededError", "ContentPolicyViolationError")
        return TransportError(
            f"Calling {self.model}: {kind}"
            + (f" (status {status})" if status else "")
            + f": {redact_message(str(error))}{hint_at_path(status, self._api_base)}",
            "request" if own else failure_kind(status, str(error)),
            retry_after=retry_after,
        )
