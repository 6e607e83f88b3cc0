"""Files past memory: a quantity of every row of a file, a block of rows at a time, into another file.

row_files       what a file of rows is, whatever its format
zarr_rows       rows of Zarr stores
row_sources     rows of NumPy, Zarr, Parquet and CSV files, in blocks
file_libraries  libraries that some kinds of files need
npy_headers     the header of a NumPy file from anywhere
zarr_names      what a Zarr store calls its columns
zarr_stores     what a Zarr store may be, before a number of it is read or it is written over
source_states   whether all rows came from one file
row_sinks       the same the other way: written beside their place, renamed when complete
limit_watch     limits that rows go beyond
file_stream     `stream`: from one to the other
"""

from forearm.streams.file_stream import Streamed, stream

__all__ = ["Streamed", "stream"]
