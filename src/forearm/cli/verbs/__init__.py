"""The table of verbs. A verb is a function of the same name (`cache list` is `cache_list`) in a module of this
package; its row here is all that the command line needs to know. A file has one verb, or those that
belong together; none knows another.

    arm_verbs         arms, show, convert          trust_verbs      verify, check, compare
    reach_verbs       reach                        identify_verbs   identify, excite, watch
    move_verbs        move                         paper_verbs      derive, cite
    torque_verbs      torque                       count_verbs      count
    reaction_verbs    reactions                    machine_verbs    emit, bench, doctor, cache
    simulation_verbs  simulate                     page_verbs       view, report
    sweep_verbs       sweep                        first_verbs      demo, completion
"""

VERBS = {
    "The arm": {"arms": "arm_verbs", "show": "arm_verbs", "convert": "arm_verbs"},
    "Motion": {"reach": "reach_verbs", "move": "move_verbs"},
    "Dynamics": {
        "torque": "torque_verbs",
        "reactions": "reaction_verbs",
        "simulate": "simulation_verbs",
        "sweep": "sweep_verbs",
    },
    "To look at": {"view": "page_verbs", "report": "page_verbs"},
    "Trust": {"verify": "trust_verbs", "check": "trust_verbs", "compare": "trust_verbs"},
    "The real arm": {"identify": "identify_verbs", "excite": "identify_verbs", "watch": "identify_verbs"},
    "The papers": {"count": "count_verbs", "derive": "paper_verbs", "cite": "paper_verbs"},
    "Code and machine": {
        "emit": "machine_verbs",
        "bench": "machine_verbs",
        "doctor": "machine_verbs",
        "cache list": "machine_verbs",
        "cache clear": "machine_verbs",
    },
    "To begin with": {"demo": "first_verbs", "completion": "first_verbs"},
}
"""Purpose -> verb -> module of this package, in the order of `forearm --help`."""

FAMILIES = {"cache": "List or clear the kernels kept on disk."}
"""First words of verbs of two words, and their help."""
