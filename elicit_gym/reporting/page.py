"""Self-contained HTML pages: one style, one way to escape.

Text from models and users reaches a page in two ways only: through Jinja's escaping, and as compressed JSON that a
script puts into text nodes. It is never markup.
"""

import base64
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elicit_gym.redaction import dump_json, redact
from elicit_gym.statistics.estimates import Estimate
from elicit_gym.statistics.significance import PairedTest

__all__ = ["data_uri", "format_estimate", "format_test", "pack", "write_page"]


def format_estimate(estimate: Estimate, digits: int = 2) -> str:
    """Write a number with its interval or with the reason why there is none; a dash where there is no number."""
    if estimate.value is None:
        return "–"
    text = f"{estimate.value:.{digits}f}"
    if estimate.low is None or estimate.high is None:
        return f"{text} ({estimate.reason})" if estimate.reason else text
    return f"{text} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def format_test(test: PairedTest) -> str:
    """Write the corrected p-value, or the reason why there is none."""
    if test.p_corrected is None:
        return test.reason or "–"
    return "< 0.001" if test.p_corrected < 0.001 else f"{test.p_corrected:.3f}"


def data_uri(path: Path) -> str:
    """Return an SVG file as a URI that holds it whole."""
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"


def pack(value: Any) -> str:
    """Return JSON types as compressed text; the pages' ``unpack`` inverts it.

    Conversations repeat themselves, so that gzip shrinks a thousand of them to a few hundred kilobytes. Half a
    surrogate pair, which no page can hold, becomes a question mark.
    """
    data = dump_json(value, ensure_ascii=False).encode("utf-8", "replace")
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
    environment.filters["test"] = format_test
    path.write_bytes(redact(environment.get_template(template).render(values)).encode("utf-8", "replace"))
    return path
