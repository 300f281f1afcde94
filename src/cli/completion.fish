function __ocdm_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] completion fish -- $words[2..-1] 2> /dev/null)
        set -l skip (string replace -r '.* ' '' -- $line)
        switch $line
            case ':files *'
                set -l before (string sub -l $skip -- $words[-1])
                printf '%s\n' $before(__fish_complete_path (string sub -s (math $skip + 1) -- $words[-1]))
            case ':folders *'
                __fish_complete_directories (string sub -s (math $skip + 1) -- $words[-1])
            case ':streams *'
                __fish_complete_suffix .safetensors
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c ocdm -f -a '(__ocdm_complete)'
