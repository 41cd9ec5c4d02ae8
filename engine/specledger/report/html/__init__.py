"""One offline HTML page from a bundle: what was found, the receipts that show it, and their recomputation."""

from specledger.report.html.page import make_page as make_page
