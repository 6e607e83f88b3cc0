"""Pictures (matplotlib, the extra `plot`): one style sheet, readable in greyscale and on a phone.

arm_figure(arm, q)                 the arm with frames, bodies and shadow
torque_figure(arm, t, tau)         one panel for each joint
band_figure(arm, t, tau)           torques within the band of their limits
phase_figure(plane)                path speed of a time-optimal motion, and what bounds it
term_figure(arm, t, terms)         what the torque is made of
energy_figure(t, kinetic, ...)     energies, work and what friction takes
cost_figure(curves)                what formulations cost against the number of joints

arms, curves, cost_lines           the arm; curves over time and bars; costs and schedules
record_figures                     records and significance as a whole
style                              the style sheet, files, inline SVG
"""

from forearm.plots.arms import arm_figure, good_view
from forearm.plots.cost_lines import cost_figure, schedule_figure
from forearm.plots.curves import (
    band_figure,
    bar_figure,
    energy_figure,
    phase_figure,
    term_figure,
    torque_figure,
    tracking_figure,
)
from forearm.plots.style import COLORS, figure, save, svg

__all__ = [
    "COLORS",
    "arm_figure",
    "band_figure",
    "bar_figure",
    "cost_figure",
    "energy_figure",
    "figure",
    "good_view",
    "phase_figure",
    "save",
    "schedule_figure",
    "svg",
    "term_figure",
    "torque_figure",
    "tracking_figure",
]
