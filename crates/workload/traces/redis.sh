#!/usr/bin/env bash
# usage: crates/workload/traces/redis.sh [REQUESTS [CLIENTS]]
#
# Runs the load of redis.trace: a key-value server and its own client on loopback. Starts
# redis-server on a separate port in a temporary directory, loads it with redis-benchmark, and stops
# it. Needs Debian's redis-server and redis-tools.
set -euo pipefail

requests=${1:-60000} clients=${2:-1000}
root=$(mktemp -d)
trap 'redis-cli -p 18379 shutdown nosave >/dev/null 2>&1 || true; rm -rf "$root"' EXIT
ulimit -n "$((clients * 4))" 2>/dev/null || ulimit -n "$(ulimit -Hn)"

# TCP keepalive every minute and an idle timeout, as in production; nothing is written to disk.
redis-server --port 18379 --bind 127.0.0.1 --dir "$root" --save '' --appendonly no \
    --tcp-keepalive 60 --timeout 300 \
    --tcp-backlog 1024 --maxclients "$((clients * 2))" >"$root/log" &
until redis-cli -p 18379 ping >/dev/null 2>&1; do sleep 0.05; done

# First on persistent connections, then with a new connection for every request.
redis-benchmark -p 18379 -c "$clients" -n "$requests" -r 100000 -d 100 -t set,get,incr,lpush,lpop -q
redis-benchmark -p 18379 -c "$clients" -n "$((requests / 10))" -k 0 -t set,get -q
