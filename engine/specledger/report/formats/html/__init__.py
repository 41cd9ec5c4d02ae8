"""One offline HTML page of a bundle: what was found, the receipts that show it, and their recomputation."""

from specledger.report.formats.html.page import write as write
