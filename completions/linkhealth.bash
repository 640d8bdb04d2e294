# bash completion of linkhealth(1): install as /usr/share/bash-completion/completions/linkhealth
_linkhealth_ports() {
  # The ports of the daemon that is running, or of that which the line names; silent without one.
  local at socket=()
  for ((at = 1; at + 1 < COMP_CWORD; at++)); do
    [[ ${COMP_WORDS[at]} == --socket ]] && socket=(--socket "${COMP_WORDS[at + 1]}")
  done
  COLUMNS=40 linkhealth "${socket[@]}" status 2>/dev/null | awk '$1 == "PORT" { seen = 1; next } seen && NF == 0 { exit } seen && /^  [A-Za-z0-9]/ { print $1 }'
}

_linkhealth() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      status | explain | history | watch | demo | record | replay | module | doctor | rules | ack | maintenance | check | ticket | verify | qualify | cabling | fleet) command=$word && break ;;
    esac
  done
  case $previous in
    --socket | --config | --file | --bearer-token-file | --ca-file) COMPREPLY=($(compgen -f -- "$current")) && return ;;
    --sysroot) COMPREPLY=($(compgen -d -- "$current")) && return ;;
    --format) COMPREPLY=($(compgen -W 'text json jsonl' -- "$current")) && return ;;
    --ber) COMPREPLY=($(compgen -W '1e-15 1e-14 1e-13 1e-12' -- "$current")) && return ;;
    --since) COMPREPLY=($(compgen -W '1h 1d 7d 90d' -- "$current")) && return ;;
    --for | --least) COMPREPLY=($(compgen -W '30m 1h 2h 1d' -- "$current")) && return ;;
    --by) [[ $command == fleet ]] && COMPREPLY=($(compgen -W 'switch part rack rail vendor' -- "$current")) && return ;;
  esac
  local options='--help --socket'
  case $command in
    '') options+=' --version status explain history watch demo record replay module doctor rules ack maintenance check ticket verify qualify cabling fleet' ;;
    status) options+=' --problems --wide --json --once --sysroot' ;;
    explain) options+=' --evidence --physics --json' ;;
    history) options+=' --since --ascii --json' ;;
    watch) options+=' --problems --json --frames' ;;
    doctor) options+=' --json --sysroot' ;;
    record) options+=' --for' ;;
    replay) options+=' --config --format --json --what-if' ;;
    rules) options+=' --json' ;;
    fleet) options+=' --prometheus --by --work-list --limit --json --bearer-token-file --ca-file' ;;
    module) options+=' --file --json' ;;
    ack) options+=' --for --reason --by --end --json' ;;
    maintenance) options+=' --for --reason --by --no-module-reads --json' ;;
    check) options+=' --drain-reason --perfdata --json' ;;
    ticket) options+=' --json' ;;
    verify | qualify) options+=' --ber --least --json' ;;
    cabling) options+=' --json' ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$current"))
  [[ $current == -* ]] && return
  case $command in
    maintenance) COMPREPLY=($(compgen -W "start end all $(_linkhealth_ports)" -- "$current")) ;;
    explain | history | watch | module | ack | check | ticket | verify) COMPREPLY=($(compgen -W "$(_linkhealth_ports)" -- "$current")) ;;
    record | replay) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -F _linkhealth linkhealth
