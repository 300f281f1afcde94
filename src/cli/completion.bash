# bash completion of ocdm: source it, or put it where bash-completion looks
_ocdm() {
    local line skip cur=${COMP_WORDS[COMP_CWORD]}
    local -a flags found
    [[ $cur != '=' ]] || cur=
    COMPREPLY=()
    while IFS= read -r line; do
        skip=${line##* }
        case $line in
        :files*) flags=(-f) ;;
        :folders*) flags=(-d) ;;
        :streams*) flags=(-f -X '!*.safetensors') ;;
        *) COMPREPLY+=("$line"); continue ;;
        esac
        mapfile -t found < <(compgen -P "${cur:0:skip}" "${flags[@]}" -- "${cur:skip}")
        COMPREPLY+=("${found[@]}")
        [[ $line != :streams* ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$cur")
    done < <("${COMP_WORDS[0]/#\~/$HOME}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o filenames -F _ocdm ocdm
