"""A harness for verifiers that calls the model from its own process.

The harnesses that ship with verifiers start a program by `uv` for every turn, which downloads its own dependencies.
"""

import httpx
import verifiers.v1 as vf

__all__ = ["PlainChatHarness"]


class PlainChatHarnessConfig(vf.HarnessConfig):
    """Nothing to set."""


class PlainChatHarness(vf.Harness[PlainChatHarnessConfig]):
    """One request a turn, through verifiers' own interception server."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, tool_interception_url=None):
        _, prompt = self.resolve_prompt(data)
        messages = (
            [{"role": "user", "content": prompt}]
            if isinstance(prompt, str)
            else [{"role": m.role, "content": m.content} for m in prompt]
        )
        async with httpx.AsyncClient(timeout=60) as client:
            response = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        return vf.ProgramResult(0 if response.status_code == 200 else 1, "", response.text)
