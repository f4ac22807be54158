"""What concerns the running process, and no data: forks, folders, threads, and what it is doing."""
