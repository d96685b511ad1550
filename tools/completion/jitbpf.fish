# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion of jitbpf in fish. All candidates come from 'jitbpf complete' (user/cli/complete/complete.h),
# which makes them safe; nothing here is expanded or evaluated.

function __jitbpf_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (command jitbpf complete fish '' $words[2..-1] 2>/dev/null)
    set -l kind (string split ' ' -- $lines[1])
    printf '%s\n' $lines[2..-1]
    switch "$kind[1]"
        case files
            # The value of an option after '=' is completed alone, and printed with the option.
            set -l option (string match -r -- '^--[^=]*=' $words[-1]; or echo '')
            set -l value (string replace -r -- '^--[^=]*=' '' $words[-1])
            set -l files (complete -C "__fish_command_without_completions $value")
            if set -q kind[2]
                set -l suffixes (string escape --style=regex -- $kind[2..-1] | string join '|')
                set files (string match -r -- ".*(?:$suffixes|/)\$" $files)
            end
            printf '%s\n' $option$files
        case command
            printf '%s\n' (complete -C (string join ' ' -- (string escape -- $words[(math $kind[2] + 1)..-2]) $words[-1]))
    end
end

complete -c jitbpf -f -a '(__jitbpf_complete)'
