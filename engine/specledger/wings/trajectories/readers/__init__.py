"""The readers of logs, one module for each format; `reading` chooses among them by what a file holds."""
