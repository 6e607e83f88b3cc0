"""What comes in from outside and what goes out, before anything is known of arms.

running_log     what happens meanwhile, for `logging`
escapes         text from outside, made harmless for the place where it is written
output_files    files that are whole or not there at all
waiting_files   open files that do not block, and are waited for
file_places     what may not be written to, and what is mounted at a place
exchanged_places  two folders that change places in one step
text_table      tables as text
option_names    options as Python or the shell calls them, for messages
memory_size     how much memory this machine has
executable_memory  whether code that this process makes may run
processors      how many processors this process may use
function_parts  what a function of the caller's is made of
syntax_trees    Python's syntax tree of a text, also where several threads ask for one
signal_errors   errors that a handler of a signal raises in the middle of something
libraries       those that are not ours: optional ones, SciPy's parts, their names for things
whole_process   what there is once in a process: its copies, what its threads share
"""
