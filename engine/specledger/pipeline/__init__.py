"""The stages in order: load, check, compile, run, seal, verify, pin.

The command line calls these modules and prints what they return. Nothing here prints or knows about arguments or exit
codes. Each function takes the table of kinds, which is `kinds.KINDS` by default.

    checking   load_cases, load_runs, check
    executing  preview, place_cases, execute, announce_run, enter_result
    verifying  verify, seal_evidence
    golden     pin, pin_matches
    authoring  write_new, describe
    project    write_project
    targets    expand_targets, list_specs, spec_names
    trying     try_agent
"""
