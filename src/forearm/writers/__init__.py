"""An Arm becomes an outside description."""
