"""What a chart draws."""


def rows_of(chart):
    """Its rows, of which every layer has the same."""
    (rows,) = chart.to_dict()["datasets"].values()
    return rows
