"""Every hole that was found once, and the tests that hold it shut: the list is complete, and its tests are there."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

REPRODUCTIONS = {
    "1 a name in a file ran code and poisoned the cache": [
        "hostile/test_code_from_names.py::test_a_file_with_such_a_name_is_refused_in_one_sentence_and_runs_nothing",
        "hostile/test_code_from_names.py::test_the_name_of_a_graph_stays_out_of_what_is_compiled",
        "hostile/test_code_from_names.py::test_an_object_that_does_something_else_is_built_anew",
        "hostile/test_code_from_names.py::test_an_object_without_the_function_is_built_anew_and_never_called",
    ],
    "2 Ctrl-C while a crew hires threads": [
        "hostile/test_interrupts.py::test_an_interrupt_at_every_bytecode_of_crew_and_pool",
        "hostile/test_interrupts.py::test_interrupts_at_random_moments",
    ],
    "3 MJCF opened other files": ["hostile/test_mjcf.py::test_no_attribute_opens_a_file"],
    "4 a few bytes took gigabytes": [
        "hostile/test_mjcf.py::test_a_bomb_costs_two_seconds_and_half_a_gigabyte_at_most",
        "hostile/test_toml_and_urdf_bombs.py::test_a_toml_bomb_gets_a_sentence_in_two_seconds",
        "hostile/test_toml_and_urdf_bombs.py::test_a_urdf_of_a_hundred_thousand_links_gets_a_sentence",
        "hostile/test_streams.py::test_tables_that_are_none_are_told_in_one_harmless_sentence",
        "soak/test_soak.py::test_nothing_is_found",
    ],
    "5 commands in LaTeX, scripts in Markdown": [
        "hostile/test_escapes.py::test_names_put_no_command_and_no_tag_into_what_derivation_writes",
        "hostile/test_every_text.py::test_every_text_of_every_field_stays_text_in_every_output",
    ],
    "6 Ctrl-C in a batch of motions": [
        "simulation/test_interrupt.py::test_a_batch_answers_within_half_a_second_with_what_it_reached",
        "simulation/test_interrupt.py::test_ctrl_c_after_the_last_step_is_not_swallowed",
        "hostile/test_interrupts.py::test_an_interrupt_at_every_bytecode_of_a_simulation",
        "hostile/test_interrupts.py::test_interrupts_of_simulations_at_random_moments",
    ],
    "7 a wrench at a moving point compiled on every call": [
        "hostile/test_bounds.py::test_a_wrench_at_a_moving_point_and_a_changing_payload_compile_once",
        "hostile/test_bounds.py::test_an_arm_keeps_a_bounded_number_of_loops",
    ],
    "8 the cache, by every accident": [
        "hostile/test_cache.py::test_no_home_switches_the_cache_off_and_says_so",
        "hostile/test_cache.py::test_whatever_is_in_a_files_place_neither_raises_nor_hangs",
        "hostile/test_cache.py::test_clear_removes_what_is_damaged_too_and_nothing_of_others",
        "hostile/test_cache.py::test_a_fork_while_others_compile_leaves_a_child_that_compiles",
        "hostile/test_cache.py::test_many_cold_processes_half_of_them_killed",
    ],
    "9 raw exceptions at the command line": [
        "hostile/test_streams.py::test_a_full_disk_behind_stdout_is_told",
        "hostile/test_streams.py::test_closed_streams_are_told",
        "hostile/test_streams.py::test_a_negative_seed_is_refused",
        "hostile/test_streams.py::test_urdf_with_hyphens_in_where_its_numbers_come_from",
        "hostile/test_streams.py::test_any_whole_number_is_a_number_of_threads",
        "hostile/test_streams.py::test_long_work_is_told_beforehand",
    ],
    "10 half a file after an interrupted write": ["hostile/test_output_files.py"],
    "11 a log lost under its own torques": [
        "hostile/test_output_files.py::test_what_is_read_is_not_written_over"
    ],
    "12 a table's C read beside the table": [
        "tabulated/test_tables.py::test_the_look_up_in_c_does_not_read_beside_the_table",
        "tabulated/test_tables.py::test_what_is_no_number_is_not_looked_up",
    ],
    "13 a search that heard no Ctrl-C": [
        "reach/test_refusals.py::test_attempts_beyond_the_starts_that_there_are_were_cut_to_them_without_a_word"
    ],
    "14 an escape sequence in the name of a tree's file": [
        "robots/test_robot_values.py::test_the_texts_of_a_robot_are_checked_as_those_of_an_arm"
    ],
    "15 an archive of more rows than memory": [
        "motion/test_motion_files.py::test_more_rows_than_memory_are_refused_while_they_come",
        "identification/test_refusals.py::test_a_damaged_archive_is_refused_in_a_sentence",
    ],
    "16 a Zarr store whose codec unpickles, and headers of arrays that lie": [
        "hostile/test_stream_files.py::test_a_store_of_a_stranger_runs_nothing_and_gets_one_sentence",
        "hostile/test_stream_files.py::test_an_array_whose_header_lies_gets_one_sentence",
    ],
    "17 a folder of years lost under a Zarr array": [
        "hostile/test_stream_files.py::test_a_folder_that_is_no_array_is_not_written_over",
        "hostile/test_stream_files.py::test_a_store_is_not_written_over_the_folder_that_holds_its_rows",
        "hostile/test_stream_files.py::test_ctrl_c_while_a_store_takes_its_place_leaves_the_old_one",
    ],
    "18 a block of a sweep counted twice after Ctrl-C": [
        "hostile/test_journals.py::test_ctrl_c_while_a_journal_is_kept_counts_no_block_twice",
        "hostile/test_journals.py::test_a_journal_with_one_digit_changed_is_not_believed",
        "hostile/test_journals.py::test_a_journal_of_a_stranger_gets_one_sentence",
    ],
    "19 a sweep that heard Ctrl-C after seven seconds": [
        "sweeps/test_sweeps.py::test_ctrl_c_in_a_sweep_is_answered_after_a_block_not_after_a_task"
    ],
    "20 a log lost under what stdout was appended to": [
        "hostile/test_output_files.py::test_a_log_that_stdout_is_appended_to_keeps_its_lines",
        "hostile/test_output_files.py::test_a_file_in_memory_is_whole_or_not_there",
    ],
    "21 tags, attributes, joints and numbers beyond count": [
        "hostile/test_toml_and_urdf_bombs.py::test_tags_and_attributes_beyond_count_are_read_or_refused_in_two_seconds",
        "hostile/test_toml_and_urdf_bombs.py::test_a_tree_of_a_thousand_joints_gets_a_sentence",
        "hostile/test_toml_and_urdf_bombs.py::test_a_length_whose_products_overflow_gets_a_sentence",
    ],
    "22 modules and settings out of the folder where somebody works": [
        "hostile/test_working_folder.py::test_worker_processes_import_nothing_from_the_folder_where_somebody_works",
        "hostile/test_working_folder.py::test_a_matplotlibrc_in_the_folder_sets_nothing",
        "hostile/test_working_folder.py::test_the_command_line_loads_matplotlib_as_if_it_stood_elsewhere",
        "identification/test_blas_threads.py",
    ],
    "23 a Zarr store with links, pipes and rows without end": [
        "hostile/test_stream_files.py::test_a_store_leads_to_no_other_file_and_to_no_wait_without_end"
    ],
    "25 long words that took hours": [
        "hostile/test_long_words.py::test_a_long_word_takes_two_seconds_at_most_and_gets_a_sentence"
    ],
    "24 titles of columns that took hours": [
        "hostile/test_stream_files.py::test_a_title_of_a_parquet_file_without_end_gets_one_sentence",
        "hostile/test_long_words.py::test_titles_of_separators_take_two_seconds_at_most",
    ],
    "26 results lost for a journal, a note or a place that could not be written": [
        "hostile/test_journals.py::test_a_disk_that_fills_up_takes_the_journal_and_not_the_result",
        "hostile/test_journals.py::test_a_journal_that_cannot_be_written_is_told_before_anything_is_computed",
        "hostile/test_output_files.py::test_a_folder_that_is_not_there_is_told_before_anything_is_computed",
        "hostile/test_output_files.py::test_one_name_for_two_files_is_refused",
        "hostile/test_streams.py::test_notes_that_nobody_can_read_take_no_result_with_them",
    ],
    "27 sweeps that waited for ever, in a copied process or for want of open files": [
        "sweeps/test_sweeps_at_once.py::test_a_process_copied_while_another_thread_unpacks_a_sweep_is_not_stuck",
        "sweeps/test_sweeps_at_once.py::test_too_few_open_files_for_all_workers_do_not_hang_the_process_at_its_end",
        "sweeps/test_sweeps_at_once.py::test_ctrl_c_right_after_a_fork_leaves_no_lock_held",
    ],
    "28 sweeps that took all the memory before they began": [
        "sweeps/test_sweeps_at_once.py::test_a_sweep_of_more_samples_than_anybody_computes_begins_at_once",
        "sweeps/test_sweeps_at_once.py::test_no_more_workers_begin_than_there_is_work_for",
    ],
    "29 raw exceptions of absurd logs and odd tensors": [
        "motion/test_motion_files.py::test_numbers_that_nobody_measures_are_refused_with_their_line",
        "identification/test_refusals.py::test_a_log_of_nothing_but_zeros_is_refused_in_a_sentence",
        "gradients/test_torch_functions.py::test_tensors_that_are_no_plain_rows_get_one_sentence",
        "gradients/test_jax_functions.py::test_what_no_array_is_made_of_gets_one_sentence",
    ],
    "31 torques out of a cache that forearm's own changed source had not made": [
        "compiler/test_kernel_cache.py::test_a_changed_file_in_any_room_of_the_compiler_is_another_version"
    ],
    "32 keys of many parts behind separators, and texts taken for them": [
        "hostile/test_toml_and_urdf_bombs.py::test_no_separator_of_unicode_hides_a_key_of_many_parts",
        "hostile/test_toml_and_urdf_bombs.py::test_no_text_hides_a_key_of_many_parts",
        "hostile/test_toml_and_urdf_bombs.py::test_a_text_with_many_stops_is_no_key_of_many_parts",
    ],
    "33 files full of names, mimics in a row, names nearly alike": [
        "hostile/test_toml_and_urdf_bombs.py::test_a_file_full_of_names_is_read_or_refused_in_two_seconds",
        "hostile/test_toml_and_urdf_bombs.py::test_many_impossible_links_get_a_message_of_a_screen",
        "hostile/test_toml_and_urdf_bombs.py::test_thousands_of_joints_that_mimic_one_another_get_a_sentence_in_two_seconds",
        "hostile/test_long_words.py::test_a_thousand_long_names_that_are_nearly_alike_are_compared_in_two_seconds",
    ],
    "34 a closed form that filled the memory": [
        "derivation/test_messages.py::test_a_closed_form_that_fills_the_memory_is_given_up_in_a_sentence"
    ],
    "35 odd numbers and names called a bug of ours; a TOML file too long for its own reader": [
        "hostile/test_odd_numbers_and_names.py",
        "hostile/test_absurd_sizes.py::test_a_gradient_through_time_takes_a_step_of_time",
        "hostile/test_output_files.py::test_no_toml_is_written_that_is_too_long_to_be_read",
    ],
    "36 a record written beyond its memory": [
        "hostile/test_absurd_sizes.py::test_a_record_at_a_number_that_no_register_holds_writes_no_further",
        "hostile/test_absurd_sizes.py::test_steps_that_no_register_holds_are_refused",
    ],
    "37 short rows under a wide header, chunks that are not there": [
        "hostile/test_long_words.py::test_short_rows_under_a_wide_header_take_no_memory_for_missing_cells",
        "hostile/test_stream_files.py::test_a_store_in_very_small_chunks_is_read_some_at_a_time_and_gives_the_same",
    ],
    "38 a lock held by a process that was stopped": [
        "hostile/test_cache.py::test_a_lock_that_a_stopped_process_holds_does_not_stop_a_sweep",
        "hostile/test_cache.py::test_no_lock_is_waited_for_in_a_folder_that_others_may_write",
    ],
    "39 a loop of links walked for ever": [
        "hostile/test_toml_and_urdf_bombs.py::test_a_source_that_the_oracle_would_walk_for_ever_gets_a_sentence",
    ],
    "40 somebody's own page written over": [
        "hostile/test_output_files.py::test_somebodys_own_page_is_not_written_over_and_one_of_ours_is",
        "hostile/test_output_files.py::test_somebodys_own_module_is_not_written_over_and_one_of_ours_is",
    ],
    "41 a DOCTYPE behind an instruction, tags in UTF-7": [
        "readers/test_urdf.py::test_no_comment_or_instruction_hides_a_doctype",
        "readers/test_urdf.py::test_an_encoding_in_which_tags_cannot_be_counted_is_refused_before_it_is_parsed",
    ],
    "42 half files after a signal, and signals that nobody heard": [
        "hostile/test_stop_signals.py::test_a_signal_leaves_no_part_beside_the_place",
        "hostile/test_stop_signals.py::test_a_signal_is_heard_while_a_foreign_library_hears_nothing",
        "hostile/test_stop_signals.py::test_what_a_killed_process_left_is_taken_away_by_the_next_writer",
    ],
    "43 a copy of the process that waited for a module for ever": [
        "hostile/test_forks.py::test_a_copy_made_while_a_thread_loads_a_module_does_not_wait_for_ever"
    ],
    "44 a journal of a gibibyte, a GPU that read beyond arrays, zeros that took minutes": [
        "hostile/test_journals.py::test_a_journal_longer_than_its_sweep_can_fill_is_not_read",
        "hostile/test_journals.py::test_a_journal_of_many_empty_lists_takes_no_memory",
        "gpu/test_cuda.py::test_arrays_that_a_rollout_would_read_beyond_their_end_are_refused",
        "compiler/test_sparse_outputs.py",
        "robots/test_base_frames.py",
    ],
    "45 tensors and symbols without numbers": ["hostile/test_odd_tensors.py"],
    "46 results lost where nothing temporary can be written, or for a picture or a name": [
        "hostile/test_nowhere_to_write.py::test_a_motion_for_stdout_was_lost_without_a_temporary_folder",
        "hostile/test_nowhere_to_write.py::test_a_picture_that_could_not_be_written_took_the_numbers_with_it",
        "hostile/test_nowhere_to_write.py::test_matplotlib_without_a_folder_of_its_own_was_called_a_bug_of_ours",
        "hostile/test_nowhere_to_write.py::test_two_archives_whose_names_differ_after_a_point_are_two",
    ],
    "47 an error that broke a pool of workers, told as a want of memory": [
        "sweeps/test_sweeps_at_once.py::test_an_error_that_cannot_be_unpickled_was_told_as_a_want_of_memory",
        "sweeps/test_sweeps_at_once.py::test_an_error_of_the_function_was_taken_for_a_worker_that_died",
    ],
    "48 a URDF file opened other files through MuJoCo; logs and results lost for a name": [
        "cli/test_words.py::test_a_urdf_file_opens_no_other_file_through_mujoco",
        "cli/test_words.py::test_what_is_read_is_not_written_over",
        "cli/test_words.py::test_a_hyphen_is_no_file_called_stdio_and_stands_once_for_a_stream",
        "cli/test_words.py::test_a_picture_that_cannot_be_written_is_refused_before_anything_is_computed",
    ],
    "50 sizes that a file told MuJoCo, a depth that Pinocchio had no room for, lists in a Parquet file": [
        "cli/test_words.py::test_mujoco_is_not_told_sizes_by_what_changes_no_torque",
        "cli/test_words.py::test_a_urdf_file_tells_mujoco_no_sizes",
        "cli/test_words.py::test_links_that_hang_on_each_other_by_thousands_end_no_process_through_pinocchio",
        "hostile/test_stream_files.py::test_a_column_of_lists_or_texts_is_refused_before_it_is_unpacked",
    ],
    "51 entries in a bibliography, formulas in a table of counts": [
        "hostile/test_escapes.py::test_where_an_arms_numbers_come_from_put_entries_into_a_bibliography",
        "hostile/test_escapes.py::test_no_name_is_a_formula_in_a_table_of_counts",
    ],
    "49 a seed that ended the process, schedules, steps and lists without end, errors that named no argument": [
        "hostile/test_wrong_arguments.py",
    ],
    "53 elements of a namespace, which MuJoCo and Pinocchio read and we did not; MuJoCo's own log": [
        "hostile/test_peer_libraries.py::test_a_namespace_hid_elements_from_us_that_other_libraries_read",
        "hostile/test_peer_libraries.py::test_mujoco_appended_its_warnings_to_what_a_link_leads_to",
    ],
    "54 results lost for a folder without permission or a mounted file; a page written over a disk": [
        "hostile/test_places.py::test_a_place_that_cannot_be_written_was_told_after_all_was_computed",
        "hostile/test_places.py::test_a_file_that_is_mounted_alone_lost_the_result",
        "hostile/test_places.py::test_a_link_under_a_name_that_is_written_unasked_led_to_a_device",
    ],
    "55 titles of a log that moved the cursor; exact powers and empty lines without end": [
        "hostile/test_escapes.py::test_a_column_or_a_file_called_by_an_escape_sequence_moved_the_cursor",
        "hostile/test_toml_and_urdf_bombs.py::test_an_exact_power_of_what_was_a_symbol_took_all_memory",
        "hostile/test_long_words.py::test_lines_of_a_small_archive_that_hold_nothing_took_an_hour",
        "hostile/test_table_files.py::test_numbers_of_other_shapes_than_the_plan_were_looked_up_beyond_their_end",
    ],
    "56 functions of branches without end, what a table says of its log": [
        "hostile/test_bounds.py::test_m_of_hundreds_of_branches_filled_the_memory",
        "hostile/test_bounds.py::test_check_looked_at_as_many_positions_of_a_large_robot_as_of_a_small_one",
        "hostile/test_table_files.py::test_what_a_table_said_of_its_log_was_of_any_length_and_under_no_checksum",
    ],
    "57 a table's file written over after it was opened; copies that ended; a pipe of our own in stdin's place": [
        "hostile/test_table_files.py::test_a_file_written_over_after_it_was_opened_gave_other_torques_or_ended_the_process",
        "hostile/test_forks.py::test_a_copy_that_ended_within_a_callback_took_files_and_workers_with_it",
        "hostile/test_streams.py::test_a_pipe_of_our_own_was_read_for_ever_as_stdin_and_took_torques_for_a_file",
        "simulation/test_interrupt.py::test_ctrl_c_in_the_first_seconds_of_a_slow_law_in_python_lost_sixty_steps",
    ],
    "58 names taken for marks at a terminal": [
        "hostile/test_terminal_markup.py::test_a_name_was_taken_for_marks_and_ended_verify_or_became_a_live_link",
    ],
    "59 signals in a fork, sweeps within sweeps, what several sweeps left behind": [
        "hostile/test_forks.py::test_an_error_of_a_signal_that_came_while_the_process_was_copied_left_the_compiler_locked",
        "hostile/test_shared_changes.py",
    ],
    "60 what a Zarr store says of itself and of its chunks": [
        "hostile/test_stream_files.py::test_what_a_target_says_of_itself_was_read_from_a_pipe_or_a_device",
        "hostile/test_stream_files.py::test_a_chunk_of_blosc_that_lied_about_its_length_ended_the_process_or_gave_bytes_of_the_heap",
        "hostile/test_zarr_words.py",
    ],
    "61 long words, classes and actuators that were copied for each other; tags that nobody counted": [
        "hostile/test_toml_and_urdf_bombs.py::test_a_long_word_was_written_into_a_note_for_each_element_in_it",
        "hostile/test_mjcf.py::test_a_bomb_costs_two_seconds_and_half_a_gigabyte_at_most",
        "readers/test_urdf.py::test_an_encoding_that_was_told_after_many_spaces_was_parsed_before_it_was_refused",
    ],
    "62 words of a file that other libraries print, titles in Markdown and behind semicolons": [
        "hostile/test_peer_libraries.py::test_pinocchio_printed_what_a_file_says_of_shapes_to_the_terminal",
        "hostile/test_mjcf.py::test_what_mujoco_says_of_a_word_moved_the_cursor",
        "counting/test_writing.py::test_a_title_was_a_link_and_a_tag_in_markdown",
        "hostile/test_escapes.py::test_a_spreadsheet_that_begins_cells_at_semicolons_computed_a_name",
    ],
    "63 files written over that may not be written to or that stdin was led from, results lost for a disk's modes": [
        "hostile/test_protected_files.py",
        "hostile/test_streams.py::test_a_log_that_stdin_was_led_from_was_written_over",
    ],
    "64 an archive of newlines, and help for a terminal of no columns, without end": [
        "hostile/test_long_words.py::test_newlines_of_a_small_archive_kept_a_reader_busy_for_hours",
        "hostile/test_streams.py::test_help_for_a_terminal_of_no_columns_never_ended",
        "hostile/test_stream_files.py::test_an_array_whose_header_lies_gets_one_sentence",
    ],
    "65 files that change while they are read, places that keep what stands there, halves of sets": [
        "hostile/test_stream_files.py::test_rows_of_a_file_that_was_written_anew_meanwhile_were_read_after_those_of_the_old",
        "hostile/test_stream_files.py::test_a_store_that_was_removed_or_replaced_meanwhile_was_read_as_zeros_or_as_the_other",
        "hostile/test_places.py::test_a_file_that_is_mounted_alone_and_takes_nothing_was_told_when_all_was_computed",
        "hostile/test_places.py::test_a_store_that_cannot_be_renamed_was_told_when_all_was_computed",
        "hostile/test_output_files.py::test_code_of_which_a_part_could_not_be_written_stood_beside_the_rest_of_the_old",
        "hostile/test_journals.py::test_memory_that_was_not_there_for_a_journal_took_the_result",
    ],
    "66 formulas in threads, a store that was between two places, counts that no samples give": [
        "readers/test_toml.py::test_formulas_in_threads_ended_in_an_error_of_pythons_parser",
        "hostile/test_stream_files.py::test_a_killed_process_left_a_store_beside_its_place",
        "hostile/test_journals.py::test_a_journal_of_a_stranger_gets_one_sentence",
    ],
    "67 outputs that took each other with them, places that were told late, texts written over with longer ones": [
        "hostile/test_every_place.py",
        "hostile/test_places.py::test_a_disk_that_fails_while_a_file_is_filled_took_the_result_with_it",
        "hostile/test_stream_files.py::test_a_text_that_was_written_over_with_a_longer_one_was_taken_for_one_that_grew",
        "sweeps/test_task_carriers.py::test_an_executor_whose_tasks_give_nothing_was_asked_for_ever",
    ],
    "68 sizes of a terminal that are no numbers, variables of libraries, interrupts while these are loaded": [
        "hostile/test_streams.py::test_a_size_of_a_terminal_that_looks_like_a_number_and_is_none_was_a_bug_of_ours",
        "hostile/test_optional_libraries.py",
    ],
    "69 sites and tendons without number, which only MuJoCo was given": [
        "hostile/test_peer_libraries.py::test_a_hundred_thousand_sites_kept_mujoco_busy_for_minutes",
    ],
    "70 a module beside a model that ran when the model was read": [
        "hostile/test_working_folder.py::test_a_module_beside_a_model_ran_when_mujoco_asked_a_python_for_the_version_of_its_window",
        "hostile/test_places.py::test_a_date_of_builds_that_is_none_ended_verbs_that_draw_nothing",
    ],
    "71 names of files that were commands when bash completed them": [
        "hostile/test_completion.py::test_a_file_was_called_by_a_command_that_ran_at_tab_and_enter",
    ],
    "72 a header of an array, and marks of a Zarr store, that took gigabytes": [
        "hostile/test_small_files.py::test_a_header_of_4_kb_on_disk_took_gigabytes",
        "hostile/test_small_files.py::test_thousands_of_numbers_that_stand_for_none_took_gigabytes",
    ],
    "73 a journal of a function without a module, values that hold themselves": [
        "sweeps/test_sweep_questions.py::test_a_journal_of_a_function_that_has_no_module_was_told_as_an_error_of_ours",
        "sweeps/test_sweep_questions.py::test_values_that_hold_themselves_ended_in_numpys_words",
    ],
    "74 a sweep over processes that waited for ever where no more threads can be begun": [
        "sweeps/test_sweeps_at_once.py::test_a_sweep_waited_for_ever_where_one_thread_more_could_not_be_begun",
    ],
    "75 a report of some minutes of a log that took gigabytes, and a log for waypoints": [
        "plots/test_plots.py::test_an_area_over_a_long_motion_took_kilobytes_for_each_row",
        "cli/test_move.py::test_a_log_for_waypoints_filled_the_memory",
    ],
    "76 an array's header, and a store's summary, that say fewer rows than there are": [
        "streams/test_streams.py::test_rows_behind_those_that_an_array_says_were_left_out_without_a_word",
        "streams/test_zarr_names.py::test_rows_that_were_appended_after_a_store_was_summed_up_were_left_out",
    ],
    "77 pipes that do not block lost rows, and memory that may not become executable ended the process": [
        "hostile/test_streams.py::test_a_stdin_that_does_not_block_ended_where_its_writer_paused",
        "hostile/test_streams.py::test_a_stdout_that_does_not_block_lost_what_its_reader_did_not_take_at_once",
        "hostile/test_want_of_memory.py::test_where_no_memory_becomes_executable_the_first_call_ended_the_process",
    ],
    "78 functions of JAX outside jit, and ways into kernels that are gone, that took memory for ever": [
        "gradients/test_jax_functions.py::test_calls_and_gradients_outside_jit_were_compiled_anew_each_and_kept_for_ever",
        "hostile/test_bounds.py::test_every_kernel_that_was_gone_left_its_way_in_for_ever",
    ],
    "79 a long namespace that was copied for each element in it, titles and keys that moved the cursor": [
        "hostile/test_toml_and_urdf_bombs.py::test_a_long_namespace_was_copied_for_each_name_in_it_for_an_hour",
        "hostile/test_toml_and_urdf_bombs.py::test_thousands_of_odd_elements_were_told_one_by_one",
        "hostile/test_escapes.py::test_a_title_of_a_log_moved_the_cursor_of_who_called_the_library",
        "hostile/test_escapes.py::test_a_fault_that_told_a_key_moved_the_cursor",
    ],
    "80 arrays and tensors that have less memory than they say, kernels called by many threads or at their own end": [
        "compiler/test_kernel.py::test_an_array_that_lied_about_itself_was_written_beyond_its_end",
        "hostile/test_odd_tensors.py::test_a_tensor_whose_storage_was_given_back_gave_torques_of_whatever_lay_there",
        "hostile/test_odd_tensors.py::test_torques_were_written_beyond_the_storage_of_a_tensor",
        "compiler/test_kernel_batch.py::test_a_kernel_that_was_called_by_what_ended_with_it_ended_the_process",
        "compiler/test_wasm.py::test_threads_at_once_got_each_others_numbers",
        "compiler/test_wasm.py::test_steps_that_are_no_whole_number_of_31_bits_were_rolled_otherwise_in_node",
        "compiler/test_function_kernels.py::test_sines_of_sines_took_minutes_without_a_word",
    ],
    "81 Ctrl-C and time limits waited for ever for a reader that had stopped reading": [
        "hostile/test_stop_signals.py::test_ctrl_c_while_nobody_read_what_was_said_was_never_answered",
        "hostile/test_stop_signals.py::test_an_end_that_nobody_read_of_was_none",
        "hostile/test_stop_signals.py::test_a_time_limit_over_a_pipe_that_nobody_reads_was_waited_for_for_ever",
    ],
    "82 sweeps that a stopped worker held after Ctrl-C, or that were lost with the main thread": [
        "sweeps/test_sweeps_at_once.py::test_a_sweep_in_a_thread_was_lost_when_the_main_thread_came_to_its_end",
        "sweeps/test_sweeps_at_once.py::test_ctrl_c_waited_for_ever_for_a_worker_that_was_stopped",
    ],
    "83 formulas behind quotes and in signs of full width": [
        "hostile/test_escapes.py::test_a_quote_behind_a_semicolon_or_a_sign_of_full_width_hid_a_formula",
    ],
    "84 holes that were read, and codecs that were counted, without a bound": [
        "hostile/test_small_files.py::test_a_chunk_of_holes_was_read_whole",
        "hostile/test_small_files.py::test_a_parquet_file_of_holes_was_read_to_its_beginning",
        "hostile/test_small_files.py::test_a_table_that_says_gigabytes_of_packed_numbers_took_them",
        "hostile/test_small_files.py::test_codecs_without_number_kept_a_reader_busy_for_minutes",
    ],
    "85 a name of an arm that ran when equations, code or rows under a page's name were opened": [
        "cli/test_words.py::test_a_file_held_something_else_than_its_name_says",
    ],
    "52 LLVM without memory ended the process": [
        "hostile/test_want_of_memory.py::test_llvm_without_memory_ended_the_process",
        "hostile/test_want_of_memory.py::test_a_process_that_held_twenty_thousand_kernels_was_ended_by_the_next",
        "hostile/test_want_of_memory.py::test_llvm_that_cannot_be_loaded_was_told_as_a_wrong_argument",
    ],
}


@pytest.mark.parametrize("hole", REPRODUCTIONS)
def test_each_hole_has_its_tests(hole):
    for place in REPRODUCTIONS[hole]:
        file, _, name = place.partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in there or (not name and there), place
