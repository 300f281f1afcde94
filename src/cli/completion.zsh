#compdef ocdm
_ocdm() {
    local line tab=$'\t'
    local -a found
    for line in "${(@f)$(${~words[1]} completion zsh -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
        case $line in
        :files*) compset -p ${line##* }; _files ;;
        :folders*) compset -p ${line##* }; _files -/ ;;
        :streams*) compset -p ${line##* }; _files -g '*.safetensors(-.)' ;;
        ?*) line=${line//:/\\:}; found+=("${line/$tab/:}") ;;
        esac
    done
    (( ! $#found )) || _describe word found
}
if [ "$funcstack[1]" = _ocdm ]; then _ocdm "$@"; else compdef _ocdm ocdm; fi
