"""Work on a Dask cluster; it needs the extra `cluster`."""
