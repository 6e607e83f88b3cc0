"""Pictures (matplotlib, the extra `plot`): one style sheet, readable in greyscale and on a phone.

arm_figure(arm, q)                 the arm with frames, bodies and shadow
torque_figure(arm, t, tau)         one panel for each joint
comparison_figure(arm, t, a, b)    measured and predicted torques, and what is between them
band_figure(arm, t, tau)           torques within the band of their limits
phase_figure(plane)                path speed of a time-optimal motion, and what bounds it
term_figure(arm, t, terms)         what the torque is made of
energy_figure(t, kinetic, ...)     energies, work and what friction takes
cost_figure(curves)                what formulations cost against the number of joints

lettered_figure(arm, q)            a planar arm with the letters of the textbooks
free_body_figure(arm, q, r, i)     one link cut free, with what acts on it

arms, curves, cost_lines           the arm; curves over time and bars; costs and schedules
diagrams                           drawings for a blackboard
record_figures                     records and significance as a whole
style                              the style sheet, files, inline SVG
"""

from forearm.plots.arms import arm_figure, good_view
from forearm.plots.cost_lines import cost_figure, schedule_figure
from forearm.plots.curves import (
    band_figure,
    bar_figure,
    comparison_figure,
    energy_figure,
    phase_figure,
    term_figure,
    torque_figure,
    tracking_figure,
)
from forearm.plots.diagrams import free_body_figure, lettered_figure
from forearm.plots.style import COLORS, figure, save, svg

__all__ = [
    "COLORS",
    "arm_figure",
    "band_figure",
    "bar_figure",
    "comparison_figure",
    "cost_figure",
    "energy_figure",
    "figure",
    "free_body_figure",
    "good_view",
    "lettered_figure",
    "phase_figure",
    "save",
    "schedule_figure",
    "svg",
    "term_figure",
    "torque_figure",
    "tracking_figure",
]
