"""Self-contained HTML pages: one style, one way to escape.

Text from models and users reaches a page in two ways only: through Jinja's escaping, and as compressed JSON that a
script puts into text nodes. It is never markup.
"""

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elicit_gym.statistics import Estimate

__all__ = ["data_uri", "format_estimate", "format_p", "pack", "write_page"]


def format_estimate(estimate: Estimate, digits: int = 2) -> str:
    """Write a number with its interval, or a dash where there is none."""
    if estimate.value is None:
        return "–"
    text = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def format_p(p_value: float | None) -> str:
    """Write a p-value."""
    if p_value is None:
        return "–"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def data_uri(path: Path) -> str:
    """Return an SVG file as a URI that holds it whole."""
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def pack(value: Any) -> str:
    """Return JSON types as compressed text; the pages' ``unpack`` inverts it.

    Conversations repeat themselves, so that gzip shrinks a thousand of them to a few hundred kilobytes. Half a
    surrogate pair, which no page can hold, becomes a question mark.
    """
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return base64.b64encode(gzip.compress(data, mtime=0)).decode("ascii")


def write_page(path: Path, package: str, template: str, values: Mapping[str, Any]) -> Path:
    """Render a template of a package's ``templates`` folder, on the base that all pages share.

    Args:
        path: the page's path.
        package: the package that the template belongs to.
        template: the template's file name.
        values: the template's variables.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    shared = "elicit_gym.reporting"
    loaders = [PackageLoader(name, "templates") for name in dict.fromkeys((package, shared))]
    environment = Environment(loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined)
    environment.filters["estimate"] = format_estimate
    environment.filters["p"] = format_p
    path.write_bytes(environment.get_template(template).render(values).encode("utf-8", "replace"))
    return path
