"""Codes of findings of reports, traces and agent checks."""

from specledger.core.diagnostics import code

E_PICTURE_NONE = code("E_PICTURE_NONE", "the world does not say how it is drawn")
E_REPORT_KIND = code("E_REPORT_KIND", "this kind of evidence has no such report")
E_REPORT_EPISODE = code("E_REPORT_EPISODE", "there is no such episode")
E_REPORT_RECEIPTS = code("E_REPORT_RECEIPTS", "a receipt is malformed")
E_REPORT_PLACE = code("E_REPORT_PLACE", "a report cannot be written there")
E_TESTS = code("E_TESTS", "the file is not valid JUnit XML")
E_AGENT_LATE = code("E_AGENT_LATE", "an agent did not answer in time")
E_AGENT_PROTOCOL = code("E_AGENT_PROTOCOL", "an agent does not speak the protocol")
E_AGENT_PROPOSAL = code("E_AGENT_PROPOSAL", "a proposal of an agent is malformed")
E_TRACE_KIND = code("E_TRACE_KIND", "only a run has steps")
E_TRACE_STEP = code("E_TRACE_STEP", "there is no such step")
E_TRACE_FIELD = code("E_TRACE_FIELD", "no receipt has such a field")
E_TRACE_STATE = code("E_TRACE_STATE", "a state cannot be recomputed from the receipts")
E_AGENT_PROMISE = code("E_AGENT_PROMISE", "an agent does not do what it says of itself")
E_AGENT_CHECK = code("E_AGENT_CHECK", "an agent cannot be checked like this")
