"""What there is once in a process, whoever works in it: copies of it, and what all of its threads share.

forks           copies of the process, made when nothing is half done
shared_changes  what all threads share, changed for a while by those who need it
environment     its variables, while something foreign is begun
blas_threads    how many threads linear algebra takes
foreign_logs    files that other libraries write unasked
"""
