"""Wings: one folder for each capability. A wing imports the core and the wings that it declares."""
