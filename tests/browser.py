"""A page as a real browser shows it, where there is one."""

import base64
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def dumped_dom(page: Path, scratch: Path) -> str:
    """Return the document after its scripts ran."""
    return _run(page, scratch, "--dump-dom")[0]


def dumped_dom_and_console(page: Path, scratch: Path) -> tuple[str, list[str]]:
    """Return the document after its scripts ran, and what the browser wrote to the console."""
    dom, log = _run(page, scratch, "--dump-dom", "--enable-logging=stderr")
    return dom, re.findall(r'CONSOLE[^"]*"(.*)", source', log)


def draw(page: Path, scratch: Path, picture: Path, *, size: str = "1200,1600") -> None:
    """Write what the browser shows as a PNG."""
    _run(page, scratch, f"--screenshot={picture}", f"--window-size={size}", "--hide-scrollbars", output=False)


def with_script(page: Path, script: str, copy: Path) -> Path:
    """Write a copy of a page with one more script that its content security policy lets in, as a reader of the page."""
    found = base64.b64encode(sha256(script.encode()).digest()).decode()
    text = page.read_text(encoding="utf-8")
    assert "script-src 'sha256-" in text
    text = text.replace("script-src ", f"script-src 'sha256-{found}' ", 1)
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    return copy


def _run(page: Path, scratch: Path, *arguments: str, output: bool = True) -> tuple[str, str]:
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={scratch / 'profile'}", "--virtual-time-budget=8000", *arguments, f"file://{page}",
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout or not output, done.stderr[-500:]
    return done.stdout, done.stderr
