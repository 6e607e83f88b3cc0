"""The same emitter for NVIDIA GPUs: PTX, one state for each thread.

ptx_batches     arrays in columns, and what all PTX shares
ptx_rows        arrays in rows
ptx_rollout     the steps of a simulation
"""
