"""The only step loop. It yields events; it writes nothing and reads no YAML."""
