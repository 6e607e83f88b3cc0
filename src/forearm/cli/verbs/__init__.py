"""The table of verbs. A verb is a function of the same name (`cache list` is `cache_list`) in a module of this
package or beside it; its row here is all that the command line needs to know.
"""

VERBS = {
    "The arm": {"arms": "verbs.arm_verbs", "show": "verbs.arm_verbs", "convert": "verbs.arm_verbs"},
    "Dynamics": {"torque": "verbs.motion_verbs", "simulate": "verbs.motion_verbs"},
    "Trust": {"verify": "verbs.trust_verbs", "check": "verbs.trust_verbs", "compare": "verbs.trust_verbs"},
    "The papers": {"count": "count_verbs", "derive": "verbs.paper_verbs", "cite": "verbs.paper_verbs"},
    "Code and machine": {
        "emit": "verbs.machine_verbs",
        "bench": "verbs.machine_verbs",
        "doctor": "verbs.machine_verbs",
        "cache list": "verbs.machine_verbs",
        "cache clear": "verbs.machine_verbs",
    },
    "To begin with": {"demo": "verbs.first_verbs", "completion": "verbs.first_verbs"},
}
"""Purpose -> verb -> module of `forearm.cli`, in the order of `forearm --help`."""

FAMILIES = {"cache": "List or clear the kernels kept on disk."}
"""First words of verbs of two words, and their help."""
