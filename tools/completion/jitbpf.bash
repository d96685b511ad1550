# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of jitbpf in bash. All candidates come from 'jitbpf complete' (user/cli/complete/complete.h),
# which makes them safe; nothing here is expanded or evaluated.

_jitbpf()
{
	local lines kind suffix found current=${COMP_WORDS[COMP_CWORD]} IFS=$' \t\n'

	mapfile -t lines < <(command jitbpf complete bash "${COMP_TYPE:-9}" \
		"${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	read -ra kind <<<"${lines[0]}"
	COMPREPLY=("${lines[@]:1}")
	[[ $current == '=' ]] && current=
	case ${kind[0]} in
	files)
		compopt -o filenames
		for suffix in "${kind[@]:1}"; do
			mapfile -t found < <(compgen -f -X "!*$suffix" -- "$current")
			COMPREPLY+=("${found[@]}")
		done
		if ((${#kind[@]} == 1)); then
			mapfile -t found < <(compgen -f -- "$current")
		else
			mapfile -t found < <(compgen -d -- "$current")
		fi
		COMPREPLY+=("${found[@]}")
		;;
	command)
		if declare -F _command_offset >/dev/null; then
			_command_offset "${kind[1]}"
		elif ((kind[1] == COMP_CWORD)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$current")
		else
			compopt -o default
		fi
		;;
	esac
}

complete -F _jitbpf jitbpf
