"""What is kept on disk between processes, in a folder that belongs to the user alone.

files           one file for each thing kept, under a digest of what it was made from
graphs          graphs as text in such files
machine_locks   one process at a time, so that many that start together make a thing once
"""
