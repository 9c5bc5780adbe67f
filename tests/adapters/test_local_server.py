"""The checks before a server's own code, with real requests to a real server."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed, InvalidStatus

from elicit_gym.adapters.local_server import AccessRules, Guard, text_problem
from tests.adapters.servers import EVIL, call, free_port, listens, opened

LIMIT = 2_000
RULES = AccessRules(hosts=("box.example",), origins=("https://friend.example",), max_bytes=LIMIT, idle_s=3.0)


class Echo:
    """Counts what reaches it, and sends it back."""

    def __init__(self) -> None:
        self.reached = 0

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        self.reached += 1
        if scope["type"] == "http":
            body = (await receive())["body"]
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body})
            return
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] != "websocket.disconnect":
            if message["type"] == "websocket.receive":
                await send({"type": "websocket.send", "text": message["text"]})


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[int, Echo]]:
    echo, port = Echo(), free_port()
    guard = Guard(echo, RULES, text_problem)
    server = uvicorn.Server(uvicorn.Config(guard, port=port, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not listens(port):
        assert thread.is_alive()
    yield port, echo
    server.should_exit = True
    thread.join(20)


JSON = {"Content_Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "body", "host", "headers", "status", "sentence"),
    [
        ("GET", None, None, {}, 200, ""),
        ("POST", b"{}", None, JSON, 200, "{}"),
        ("POST", b"{}", None, {"Content_Type": "Application/JSON; charset=utf-8"}, 200, "{}"),
        ("POST", b"{}", "localhost:{port}", JSON | {"Origin": "http://localhost:{port}"}, 200, "{}"),
        ("POST", b"{}", "box.example", JSON, 200, "{}"),
        ("POST", b"{}", None, JSON | {"Origin": "https://friend.example"}, 200, "{}"),
        ("POST", b"{}", None, JSON | {"Origin": EVIL}, 403, "(Origin)"),
        ("GET", None, None, {"Origin": EVIL}, 403, "(Origin)"),
        ("OPTIONS", None, None, {"Origin": EVIL, "Access_Control_Request_Method": "POST"}, 403, "(Origin)"),
        ("POST", b"{}", None, JSON | {"Origin": "null"}, 403, "(Origin)"),
        ("POST", b"{}", None, JSON | {"Origin": ""}, 403, "(Origin)"),
        ("POST", b"{}", None, JSON | {"Origin": "http://localhost:1"}, 403, "(Origin)"),
        ("POST", b"{}", None, JSON | {"Sec_Fetch_Site": "cross-site"}, 403, "cross-site"),
        ("POST", b"{}", None, JSON | {"Sec_Fetch_Site": "same-site"}, 403, "same-site"),
        ("GET", None, "evil.example", {}, 403, "header Host"),
        ("GET", None, "evil.example:{port}", {"Origin": "http://evil.example:{port}"}, 403, "header Host"),
        ("GET", None, "127.0.0.1.evil.example", {}, 403, "header Host"),
        ("GET", None, "localhost@evil.example", {}, 403, "header Host"),
        ("GET", None, "localhost:x", {}, 403, "header Host"),
        ("GET", None, "10.0.0.1", {}, 403, "header Host"),
        ("GET", None, "[::1", {}, 403, "header Host"),
        ("POST", b"{}", None, {"Content_Type": "text/plain"}, 415, "application/json"),
        ("POST", b"a=b", None, {"Content_Type": "application/x-www-form-urlencoded"}, 415, "application/json"),
        ("POST", b"{}", None, {}, 415, "application/json"),
        ("PUT", b"{}", None, {"Content_Type": "text/plain; application/json"}, 415, "application/json"),
        ("DELETE", None, None, {}, 415, "application/json"),
        ("POST", b"x" * (LIMIT + 1), None, JSON, 413, "2,000 bytes"),
        ("POST", b"x" * LIMIT, None, JSON, 200, "x"),
        ("POST", b"", None, JSON | {"Content_Length": "9" * 12}, 413, "2,000 bytes"),
    ],
)  # fmt: skip
def test_what_is_let_in(
    served: tuple[int, Echo], method: str, body: bytes | None, host: str | None, headers: dict[str, str], status: int,
    sentence: str,
) -> None:  # fmt: skip
    port, echo = served
    before = echo.reached
    filled = {name: value.format(port=port) for name, value in headers.items()}
    found, text = call(port, method, "/", body, host=host.format(port=port) if host else None, **filled)
    assert (found, echo.reached - before) == (status, int(status == 200))
    assert sentence in text
    assert status == 200 or text.startswith("Calling this server: expected ")


def test_a_body_without_a_length_is_cut_at_the_limit(served: tuple[int, Echo]) -> None:
    port, echo = served
    before = echo.reached
    for parts, status in ((5, 413), (4, 200)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("POST", "/", (b"x" * 500 for _ in range(parts)), {"Content-Type": "application/json"})
        assert connection.getresponse().status == status
        connection.close()
    assert echo.reached == before + 1


@pytest.mark.parametrize("twice", ["Host: localhost", "Origin: http://localhost"])
def test_a_header_that_comes_twice_lets_nobody_in(served: tuple[int, Echo], twice: str) -> None:
    port, echo = served
    before = echo.reached
    with socket.create_connection(("127.0.0.1", port), 20) as raw:
        raw.sendall(f"GET / HTTP/1.1\r\nHost: localhost\r\n{twice}\r\n{twice}\r\n\r\n".encode())
        assert raw.recv(4_000).split()[1] in (b"400", b"403")
    assert echo.reached == before


@pytest.mark.parametrize(
    ("host", "settings"),
    [
        (None, {"origin": EVIL}),
        (None, {"origin": "null"}),
        ("evil.example", {}),
        ("evil.example:80", {"origin": "http://evil.example:80"}),
        (None, {"additional_headers": {"Sec-Fetch-Site": "cross-site"}}),
    ],
)
def test_a_page_elsewhere_opens_no_websocket(
    served: tuple[int, Echo], host: str | None, settings: dict[str, Any]
) -> None:
    port, echo = served
    before = echo.reached
    with pytest.raises(InvalidStatus) as refused:
        opened(port, host=host, **settings)
    assert refused.value.response.status_code == 403
    assert json.loads(refused.value.response.body or b"")["detail"].startswith("Calling this server: expected ")
    assert echo.reached == before


@pytest.mark.parametrize(
    ("host", "settings"), [(None, {}), (None, {"origin": "https://friend.example"}), ("box.example", {})]
)
def test_friends_open_a_websocket(served: tuple[int, Echo], host: str | None, settings: dict[str, Any]) -> None:
    with opened(served[0], host=host, **settings) as socket_:
        socket_.send('{"a": 1}')
        assert socket_.recv(20) == '{"a": 1}'


@pytest.mark.parametrize(("message", "code"), [('"' + "x" * LIMIT + '"', 1009), (b"{}", 1003), (None, 1001)])
def test_a_websocket_ends_with_a_reason(served: tuple[int, Echo], message: str | bytes | None, code: int) -> None:
    with opened(served[0]) as socket_:
        if message is not None:
            socket_.send(message)
        with pytest.raises(ConnectionClosed) as ended:
            socket_.recv(20)
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == code
    assert ended.value.rcvd.reason.endswith(".")


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("{", "does not parse"),
        ("[1]", "got list"),
        ('"x"', "got str"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"\\udc00": 1}', "surrogate"),
        ('{"a": NaN}', "does not parse"),
        ('{"a": ' + "9" * 1_900 + "9" * 3_000 + "}", "does not parse"),
        ('{"a": ' + "[" * 90_000 + "]" * 90_000 + "}", "brackets"),
    ],
)
def test_text_that_breaks_a_reader_is_told(message: str, sentence: str) -> None:
    problem = text_problem(message)
    assert problem is not None
    assert sentence in problem
    assert text_problem('{"a": ["\\ud83d\\ude00", 1, null]}') is None


def test_listening_everywhere_means_being_called_by_any_address() -> None:
    everywhere = AccessRules(bound="0.0.0.0")
    assert everywhere.problem("GET", [(b"host", b"10.1.2.3:8000")]) is None
    assert everywhere.problem("GET", [(b"host", b"evil.example")]) is not None
    assert AccessRules(bound="10.1.2.3").problem("GET", [(b"host", b"10.1.2.3:8000")]) is None
    assert AccessRules(bound="10.1.2.3").problem("GET", [(b"host", b"10.1.2.4:8000")]) is not None


@pytest.mark.parametrize(
    "origin", ["*", "evil.example", "null", "file:///x", "https://*.example", "https://a.example/x"]
)
def test_an_origin_that_no_page_has_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match="expected an origin such as"):
        AccessRules(origins=(origin,))


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elicit_gym.adapters.local_server.BODY_SECONDS", 0.05)
    sent: list[dict[str, Any]] = []

    async def never() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "headers": headers}
    asyncio.run(Guard(Echo(), RULES)(scope, never, send))
    assert sent[0]["status"] == 408
