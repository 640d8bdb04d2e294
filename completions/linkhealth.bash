# bash completion of linkhealth(1): install as /usr/share/bash-completion/completions/linkhealth
_linkhealth_ports() {
  # The ports of a running daemon; silent without one.
  COLUMNS=40 linkhealth status 2>/dev/null | awk '$1 == "PORT" { seen = 1; next } seen && NF == 0 { exit } seen && /^  [A-Za-z0-9]/ { print $1 }'
}

_linkhealth() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      status | explain | history | watch | record | replay | module | doctor | rules | fleet) command=$word && break ;;
    esac
  done
  case $previous in
    --socket | --config | --file | --bearer-token-file | --ca-file) COMPREPLY=($(compgen -f -- "$current")) && return ;;
    --sysroot) COMPREPLY=($(compgen -d -- "$current")) && return ;;
    --format) COMPREPLY=($(compgen -W 'text json jsonl' -- "$current")) && return ;;
    --by) COMPREPLY=($(compgen -W 'switch part rack rail vendor' -- "$current")) && return ;;
    --since) COMPREPLY=($(compgen -W '1h 1d 7d 90d' -- "$current")) && return ;;
    --for) COMPREPLY=($(compgen -W '90s 10m 1h 1d' -- "$current")) && return ;;
  esac
  local options='--help --socket'
  case $command in
    '') options+=' --version status explain history watch record replay module doctor rules fleet' ;;
    status) options+=' --problems --wide --json --once --sysroot' ;;
    explain) options+=' --evidence --physics --json' ;;
    history) options+=' --since --ascii --json' ;;
    watch) options+=' --problems --json --frames' ;;
    doctor) options+=' --json --sysroot' ;;
    record) options+=' --for' ;;
    replay) options+=' --config --format --json --what-if' ;;
    rules) options+=' --unused --json' ;;
    fleet) options+=' --prometheus --by --work-list --limit --json --bearer-token-file --ca-file' ;;
    module) options+=' --file --json' ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$current"))
  [[ $current == -* ]] && return
  case $command in
    explain | history | watch | module) COMPREPLY=($(compgen -W "$(_linkhealth_ports)" -- "$current")) ;;
    record | replay) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _linkhealth linkhealth
