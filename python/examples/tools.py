"""Draws the most frequent tools of the sessions in a folder, by the agent that called them.

usage: python tools.py FOLDER PICTURE.svg     (pip install duckdb matplotlib, and the wheel of this package)
"""

import sys

import duckdb
import matplotlib

matplotlib.use("svg")
# Letters stay text, and two runs write the same bytes.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "convert", "font.family": "sans-serif"})

import matplotlib.pyplot as plt  # noqa: E402
import session_convert as sc  # noqa: E402

folder, picture = sys.argv[1:]
events = sc.events(sc.sessions(folder))
calls = duckdb.sql("""
    select tool_name, source_format, count(*) from events where block_type = 'tool_use' and tool_name is not null
    group by 1, 2 order by 1, 2
""").fetchall()

counts = {(tool, agent): count for tool, agent, count in calls}
agents = sorted({agent for _, agent, _ in calls})
totals = {}
for tool, _, count in calls:
    totals[tool] = totals.get(tool, 0) + count
tools = sorted(totals, key=lambda tool: (-totals[tool], tool))[:12]
figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
left = [0] * len(tools)
for color, agent in enumerate(agents):
    widths = [counts.get((tool, agent), 0) for tool in tools]
    axes.barh(tools, widths, left=left, height=0.7, color=f"C{color}", label=agent)
    left = [sum(both) for both in zip(left, widths)]
axes.invert_yaxis()
axes.set_xlabel("calls")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="lower right")
figure.savefig(picture, metadata={"Date": None, "Creator": None})
