"""An Arm or a Robot becomes an outside description.

toml   our own format, nothing lost
urdf   for other software, with what it cannot say refused or, if asked, left out
"""
