"""What all benchmarks share: data, clocks, cells of figures, plots and the report."""
