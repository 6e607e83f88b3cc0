"""The tables of Hollerbach (1980) and of Turney, Mudge and Lee (1980) beside our counts.

countables   ways to put a number beside a printed one
printed      what is printed, row by row
verdicts     `published`: the status of every number, worked out
claims       what the text says of the tables in words, computed
"""
