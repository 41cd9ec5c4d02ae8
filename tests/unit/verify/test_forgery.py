"""A bundle that is sealed again after a change is whole in itself; replay, or a check that binds, tells it anyway."""

CHAIN = 3  # the check of the receipts among themselves
SPECS = 6
REPLAY = 7


def test_an_untouched_bundle_sealed_again_is_the_same_bytes(forge):
    """So the forger knows every rule, and what a forged bundle fails by is its change."""
    forger = forge()
    before = {name: forger.read(name) for name in ("manifest.json", "receipts.jsonl", "specs.json")}
    forger.chain_parts()
    for commit, step in zip(forger.bodies("commit"), forger.bodies("step"), strict=True):
        forger.bind(commit, step)
    forger.replace_specs(lambda document: None)
    forger.seal()
    assert {name: forger.read(name) for name in before} == before
