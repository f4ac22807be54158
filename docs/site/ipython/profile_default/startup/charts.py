"""Charts stand in a page as SVG: a chart as Vega would be fetched and drawn by scripts."""

import altair as alt

alt.renderers.enable("svg")
