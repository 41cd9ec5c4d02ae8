"""`python -m specledger` is the `spec` command."""

from specledger.cli.main import main

main()
