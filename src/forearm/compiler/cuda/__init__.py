"""NVIDIA GPUs: PTX from the same emitter, one state for each thread. Loaded through CuPy (the extra `gpu`).

ptx            the text, for arrays in columns and for rollouts; no GPU needed to write it
ptx_rows       the text for rows, turned in shared memory
gpu            kernels and rollouts on the GPU
host_rollout   the same rollout for arrays on the host
"""
