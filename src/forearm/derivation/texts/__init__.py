"""Equations of motion as texts.

plain_page          for the terminal and for files
latex_lines         one equation after another, broken where a line is full
latex_arm           the arm's table and drawing
latex_page          all of them with headings
markdown_report     the same for Markdown, with the table of coefficients
lagrange_pages      the steps from the Lagrangian to the torques, in each of the three
written_digits      whether a page shows all digits of its numbers
coefficient_table   every coefficient, and what it depends on
"""
