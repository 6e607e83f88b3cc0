"""The compiler: formulation -> traced graph -> passes -> machine code, C, NumPy, CasADi."""
