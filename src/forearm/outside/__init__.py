"""What comes in from outside and what goes out, before anything is known of arms.

running_log     what happens meanwhile, for `logging`
escapes         text from outside, made harmless for the place where it is written
output_files    files that are whole or not there at all
text_table      tables as text
option_names    options as Python or the shell calls them, for messages
foreign_names   what other libraries call things
foreign_logs    files that other libraries write unasked
memory_size     how much memory this machine has
forks           copies of the process, made when nothing is half done
blas_threads    how many threads linear algebra takes
"""
