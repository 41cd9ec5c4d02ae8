"""What becomes of an answer of a service that is none: the failure, and how long one waits before the next try."""

from types import SimpleNamespace

import httpx2
import pytest

from specledger.oracles.failures import FAILURES, LASTING, UNASKED
from specledger.oracles.service_client import connection_failure, count_of, pause_of, status_failure

STATUSES = {
    200: "malformed",
    299: "malformed",
    300: "redirected",
    399: "redirected",
    400: "invalid",
    401: "unauthorised",
    402: "invalid",
    403: "unauthorised",
    404: "invalid",
    428: "invalid",
    429: "rate_limited",
    430: "invalid",
    499: "invalid",
    500: "unavailable",
    599: "unavailable",
    600: "malformed",
}


@pytest.mark.parametrize(("status", "failure"), STATUSES.items())
def test_a_status_that_is_no_success(status, failure):
    own_words = failure in ("malformed", "redirected")  # of these the service says nothing that is shown
    assert status_failure(status, "so it says") == (failure, f"HTTP {status}" if own_words else "so it says")


def test_a_wrong_key_is_one_whatever_the_status():
    assert status_failure(400, "bad key", wrong_key=True) == ("unauthorised", "bad key")


ERRORS = {
    "a time-out": (httpx2.ReadTimeout("secret"), "timed_out"),
    "a connection that took too long": (httpx2.ConnectTimeout("secret"), "timed_out"),
    "a form that cannot be decoded": (httpx2.DecodingError("secret"), "malformed"),
    "nobody there": (httpx2.ConnectError("secret"), "refused"),
    "a proxy that refuses": (httpx2.ProxyError("secret"), "refused"),
    "an end in the middle": (httpx2.RemoteProtocolError("secret"), "cut_off"),
    "an error of reading": (httpx2.ReadError("secret"), "cut_off"),
    "anything else": (ValueError("secret"), "malformed"),
}


@pytest.mark.parametrize(("error", "failure"), ERRORS.values(), ids=ERRORS)
def test_an_error_of_the_connection_is_told_by_its_class_alone(error, failure):
    assert connection_failure(error) == (failure, type(error).__name__)


def response(**headers):
    error = RuntimeError("busy")
    error.response = SimpleNamespace(headers=headers)  # type: ignore[attr-defined]
    return error


PAUSES = {
    "not said": ({}, 0.0),
    "seconds": ({"retry-after": "7"}, 7.0),
    "none": ({"retry-after": "0"}, 0.0),
    "the longest": ({"retry-after": "3600"}, 3600.0),
    "longer than that": ({"retry-after": "3601"}, 3600.0),
    "nine digits": ({"retry-after": "999999999"}, 3600.0),
    "more digits": ({"retry-after": "9999999999"}, 0.0),
    "a date": ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0.0),
    "a part of a second": ({"retry-after": "1.5"}, 0.0),
    "less than none": ({"retry-after": "-1"}, 0.0),
    "other digits": ({"retry-after": "\u0663"}, 0.0),
}


@pytest.mark.parametrize(("headers", "seconds"), PAUSES.values(), ids=PAUSES)
def test_how_long_a_service_asks_to_wait(headers, seconds):
    assert pause_of(response(**headers)) == seconds


def test_an_error_without_a_response_asks_for_no_pause():
    assert pause_of(ValueError("x")) == 0.0


@pytest.mark.parametrize(
    ("told", "count"),
    [
        (0, 0),
        (7, 7),
        (2**53 - 1, 2**53 - 1),
        (2**53, None),
        (-1, None),
        (True, None),
        (1.0, None),
        ("1", None),
        (None, None),
    ],
)
def test_a_number_of_tokens(told, count):
    assert count_of(told) == count


def test_which_failures_last_and_which_say_nothing_about_the_model():
    assert {"unauthorised", "invalid", "redirected", "over_limit"} == LASTING
    assert {"timed_out", "refused", "cut_off", "rate_limited", "unavailable", *LASTING} == UNASKED
    assert set(FAILURES) - UNASKED == {
        "blocked", "empty", "withheld", "truncated", "malformed", "too_large", "exhausted",
    }  # fmt: skip
    assert FAILURES["cut_off"] == "E_MODEL_CUT_OFF"
