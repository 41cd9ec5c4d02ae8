import pytest

from specledger.oracles.gemini import GeminiClient
from specledger.oracles.openai import OpenAIClient
from specledger.oracles.service import ADDRESS, OPENAI_ADDRESS
from specledger.spec.model import GeminiConfig, OpenAIConfig
from tests.unit.oracles.loopback import KEY, FakeClock, Service


@pytest.fixture
def service():
    made = Service()
    yield made
    made.close()


@pytest.fixture
def elsewhere():
    made = Service()
    yield made
    made.close()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def ask_with(service, clock):
    """A Gemini client of the service, with settings of the spec."""
    clients = []

    def make(clock=clock, environment=(), **settings):
        known = {"GEMINI_API_KEY": KEY, ADDRESS: service.address, **dict(environment)}
        clients.append(GeminiClient(GeminiConfig(**settings), environment=known, clock=clock))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def openai_with(service, clock):
    """An OpenAI-compatible client of the service, with settings of the spec."""
    clients = []

    def make(clock=clock, environment=(), **settings):
        known = {"OPENAI_API_KEY": KEY, OPENAI_ADDRESS: f"{service.address}v1", **dict(environment)}
        clients.append(OpenAIClient(OpenAIConfig(**{"model": "made-up", **settings}), environment=known, clock=clock))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
