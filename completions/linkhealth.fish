# fish completion of linkhealth(1): install as /usr/share/fish/vendor_completions.d/linkhealth.fish
function __linkhealth_ports
    # The ports of the daemon that is running, or of that which the line names; silent without one.
    set -l words (commandline -opc)
    set -l socket
    if set -l at (contains -i -- --socket $words)
        set socket --socket $words[(math $at + 1)]
    end
    COLUMNS=40 linkhealth $socket status 2>/dev/null | awk '$1 == "PORT" { seen = 1; next } seen && NF == 0 { exit } seen && /^  [A-Za-z0-9]/ { print $1 }'
end

# __linkhealth_options COMMAND OPTION...: options without a value
function __linkhealth_options
    for option in $argv[2..]
        complete -c linkhealth -n "__fish_seen_subcommand_from $argv[1]" -l $option
    end
end

# __linkhealth_values 'COMMAND...' OPTION VALUES: an option with one
function __linkhealth_values
    complete -c linkhealth -n "__fish_seen_subcommand_from $argv[1]" -l $argv[2] -x -a "$argv[3]"
end

complete -c linkhealth -f
complete -c linkhealth -s h -l help -d 'options and examples'
complete -c linkhealth -l socket -r -F -d 'the socket of the daemon'
complete -c linkhealth -n __fish_use_subcommand -l version -d 'the version'
for row in 'status:one line per port' 'explain:the diagnosis of one port' 'history:plots and events of one port' \
    'watch:status or explain, refreshed each second' 'demo:a simulated node with a fault' 'doctor:which sources are unavailable' \
    'record:record what the daemon reads' 'replay:diagnose a recording' 'rules:every fault and symptom' \
    'module:the contents of a module' 'ack:acknowledge a fault' 'maintenance:start or end maintenance' \
    'check:exit code and line for schedulers' 'ticket:what a technician needs at the rack' \
    'verify:acceptance test of a link' 'qualify:acceptance test of all links' \
    'cabling:compare the cabling with the plan' 'fleet:all nodes, from Prometheus'
    set -l parts (string split -m 1 : $row)
    complete -c linkhealth -n __fish_use_subcommand -a $parts[1] -d $parts[2]
end

__linkhealth_options status problems wide json once
__linkhealth_options explain evidence physics json
__linkhealth_options history ascii json
__linkhealth_options watch problems json
__linkhealth_options doctor json
__linkhealth_options replay json
__linkhealth_options rules json
__linkhealth_options module json
__linkhealth_options ack json
__linkhealth_options maintenance no-module-reads json
__linkhealth_options check drain-reason perfdata json
__linkhealth_options ticket json
__linkhealth_options verify json
__linkhealth_options qualify json
__linkhealth_options cabling json
__linkhealth_options fleet work-list json
__linkhealth_values 'status doctor' sysroot '(__fish_complete_directories)'
__linkhealth_values history since '1h 1d 7d 90d'
__linkhealth_values watch frames ''
__linkhealth_values 'record ack maintenance' for '10m 30m 1h 2h 1d'
__linkhealth_values 'replay' config '(__fish_complete_path)'
__linkhealth_values 'replay' format 'text json jsonl'
__linkhealth_values 'replay' what-if ''
__linkhealth_values 'module' file '(__fish_complete_path)'
__linkhealth_values 'ack maintenance' reason ''
__linkhealth_values 'ack maintenance' by '(__fish_complete_users)'
__linkhealth_values 'ack' end ''
__linkhealth_values 'verify qualify' ber '1e-15 1e-14 1e-13 1e-12'
__linkhealth_values 'verify qualify' least '10m 30m 1h 2h'
__linkhealth_values fleet prometheus ''
__linkhealth_values fleet by 'switch part rack rail vendor'
__linkhealth_values fleet limit ''
__linkhealth_values fleet bearer-token-file '(__fish_complete_path)'
__linkhealth_values fleet ca-file '(__fish_complete_path)'
complete -c linkhealth -n '__fish_seen_subcommand_from explain history watch module ack check ticket verify' -a '(__linkhealth_ports)'
complete -c linkhealth -n '__fish_seen_subcommand_from maintenance' -a 'start end all (__linkhealth_ports)'
complete -c linkhealth -n '__fish_seen_subcommand_from record replay' -F
