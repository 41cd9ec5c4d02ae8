"""The only step loop. It knows the order of a step and yields events; it writes nothing and reads no YAML."""
