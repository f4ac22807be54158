"""What concerns the running process, and no question: forks, folders, threads and cores."""
