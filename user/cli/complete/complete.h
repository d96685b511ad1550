/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitbpf complete: candidates for the scripts in tools/completion/. The command line is
 *
 *	jitbpf complete bash|zsh|fish TYPE WORD...
 *
 * with bash's $COMP_TYPE (others: an empty word), and the words of the command line after the
 * program's name, up to the cursor. The first line of the output says what the script adds:
 *
 *	words		  nothing
 *	files [SUFFIX...] files that end in one of these (none: all files), and folders
 *	command N	  what completes the command that begins at word N, counted from 0
 *
 * Each further line is a candidate, a tab and a description. Candidates replace the last word, and
 * in bash what follows its last '='. They consist of letters, digits and "_.,:=+@%/-", so no shell
 * expands them; descriptions have no control characters. A line that is not understood has no
 * candidates, and exits with 0: a script prints no errors while a user types.
 */
#ifndef JITBPF_CLI_COMPLETE_COMPLETE_H
#define JITBPF_CLI_COMPLETE_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Take a process from the text of its /proc/PID/stat. Returns false if it is no process of user
 * space. Sets *ret_comm to its name, which is untrusted, within the text.
 */
bool complete_read_stat(char *text, const char **ret_comm);

/* Write the candidates for words[0..count), of which the last one is completed. */
int complete_write(FILE *out, const char *shell, const char *type, char **words, int count);

#endif
