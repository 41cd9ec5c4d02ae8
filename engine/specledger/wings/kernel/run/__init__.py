"""Running under a kernel: the controller, the agents that submit documents, and what probes ask."""
