"""Self-contained HTML pages: one style, one way to escape.

Text from models and users reaches a page in two ways only: through Jinja's escaping, and as compressed JSON that a
script puts into text nodes. It is never markup.
"""

import base64
import gzip
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elicit_gym.files import write_text
from elicit_gym.redaction import redact
from elicit_gym.statistics.estimates import Estimate
from elicit_gym.statistics.significance import PairedTest
from elicit_gym.strict_json import json_text

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["LONGEST_TEXT", "data_uri", "format_estimate", "format_test", "pack", "shortened", "write_page"]

LONGEST_TEXT = 20_000
"""Characters of one text in a page: two hours of talk are some 100,000, and a browser hangs on a few million."""


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


def data_uri(path: Path) -> "Markup":
    """Return an SVG file as a URI that holds it whole."""
    from markupsafe import Markup

    return Markup(f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode('ascii')}")


def pack(value: Any, rest: str) -> "Markup":
    """Return JSON types as compressed text; the pages' ``unpack`` inverts it.

    Conversations repeat themselves, so that gzip shrinks a thousand of them to a few hundred kilobytes. Half a
    surrogate pair, which no page can hold, becomes a question mark.

    Args:
        value: the JSON types.
        rest: where the rest of a text is that is too long for a page; see `shortened`.
    """
    from markupsafe import Markup

    data = json_text(shortened(value, rest), ascii_only=False).encode("utf-8", "replace")
    return Markup(base64.b64encode(gzip.compress(data, mtime=0)).decode("ascii"))


def shortened(value: Any, rest: str) -> Any:
    """Cut every text in a JSON value that would make a page unusable, and say so where it is cut.

    Args:
        value: JSON types; what they hold is not changed.
        rest: where the rest of such a text is, for example "in episodes.jsonl".
    """
    if isinstance(value, str):
        more = len(value) - LONGEST_TEXT
        return value if more <= 0 else f"{value[:LONGEST_TEXT]} … ({more:,} more characters {rest})"
    if isinstance(value, Mapping):
        return {key: shortened(inner, rest) for key, inner in value.items()}
    return [shortened(inner, rest) for inner in value] if isinstance(value, list | tuple) else value


def write_page(path: Path, package: str, template: str, values: Mapping[str, Any]) -> Path:
    """Render a template of a package's ``templates`` folder, on the base that all pages share.

    Style and script of a page lie beside its template, as files that nothing is put into: the page's content security
    policy lets these two in by their hashes, and nothing else. So whatever a text might become in a page, it does not
    run, and nothing is fetched.

    Args:
        path: the page's path.
        package: the package that the template belongs to.
        template: the template's file name.
        values: the template's variables.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    shared = "elicit_gym.reporting"
    loader = ChoiceLoader([PackageLoader(name, "templates") for name in dict.fromkeys((package, shared))])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=_fitting)
    environment.filters["estimate"] = format_estimate
    environment.filters["test"] = format_test
    style, script = (_sources(environment, template, ending) for ending in ("css", "js"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = {"page_style": Markup(style), "page_script": Markup(script), "page_policy": Markup(policy)}
    text = environment.get_template(template).render({**values, **page})
    write_text(path, redact(text).encode("utf-8", "replace").decode("utf-8"))
    return path


def _fitting(value: Any) -> Any:
    """Cut a text in a template; what this package made itself is `Markup`, and stays whole."""
    from markupsafe import Markup

    return shortened(value, "not shown") if isinstance(value, str) and not isinstance(value, Markup) else value


def _sources(environment: "Environment", template: str, ending: str) -> str:
    """Return what all pages have of style or script, and what this page has of its own."""
    from jinja2 import TemplateNotFound

    assert environment.loader is not None
    found = []
    for name in ("base", template.partition(".")[0]):
        with suppress(TemplateNotFound):
            found.append(environment.loader.get_source(environment, f"{name}.{ending}")[0])
    return "\n".join(found)


def _hash(source: str) -> str:
    return f"sha256-{base64.b64encode(sha256(source.encode()).digest()).decode('ascii')}"
