"""What a TOML file is made of, read strictly.

toml_text    the text: limits, and the line of every key
toml_values  numbers with units and formulas
toml_table   one table, key by key
toml_links   a link: joint, geometry, body, drive, limits
"""
