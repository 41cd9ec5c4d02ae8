"""One headless Chromium for all tests of pages."""

import pytest

from tools.chromium import FOUND, MISSING, Chromium, Page


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """The browser; where there is none, the tests say so and are skipped."""
    if FOUND is None:
        pytest.skip(MISSING)
    browser = Chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture
def visit(chromium):
    """Open a file as a page."""
    pages = []

    def open_(file, fragment=""):
        pages.append(Page(chromium, file.as_uri() + fragment))
        return pages[-1]

    yield open_
    for page in pages:
        page.close()
