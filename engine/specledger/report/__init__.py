"""Pure functions of verified evidence: pictures and summaries. Nothing here runs anything."""
