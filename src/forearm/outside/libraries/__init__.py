"""Libraries that are not ours.

optional_libraries  those that may not be here
scipy_parts         SciPy's modules, where there is room to load them
foreign_names       what other libraries call things
"""
