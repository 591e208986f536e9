#!/usr/bin/env bash
# usage: crates/workload/traces/nginx.sh [SECONDS [CONNECTIONS]]
#
# Runs the load of nginx.trace: a web server and its load generator on loopback. Starts nginx on a
# separate port in a temporary directory, loads it with wrk, and stops it. Needs Debian's nginx and
# wrk; does not use the installed configuration.
set -euo pipefail

seconds=${1:-4} connections=${2:-2000}
root=$(mktemp -d)
trap '[[ -f $root/pid ]] && kill "$(cat "$root/pid")" && sleep 0.5; rm -rf "$root"' EXIT
ulimit -n "$((connections * 4))" 2>/dev/null || ulimit -n "$(ulimit -Hn)"

# Each connection is kept for 100 requests and then closed, so that sockets are opened and closed
# during the run; the kernel sends probes on idle ones. nginx keeps its timeouts itself: the kernel
# only has the timers of the sockets.
cat >"$root/nginx.conf" <<CONF
pid $root/pid;
error_log $root/error.log;
worker_processes 2;
worker_rlimit_nofile $((connections * 2 + 100));
events { worker_connections $((connections * 2)); }
http {
    access_log off;
    client_body_temp_path $root/body;
    proxy_temp_path $root/proxy;
    fastcgi_temp_path $root/fastcgi;
    uwsgi_temp_path $root/uwsgi;
    scgi_temp_path $root/scgi;
    keepalive_timeout 15s;
    keepalive_requests 100;
    client_header_timeout 10s;
    send_timeout 10s;
    server {
        listen 127.0.0.1:18080 backlog=4096 so_keepalive=60s:10s:6;
        location / { return 200 "a short answer, as an application server gives\n"; }
    }
}
CONF

nginx -p "$root" -c "$root/nginx.conf"
sleep 0.3
wrk -t2 "-c$connections" "-d${seconds}s" --timeout 5s http://127.0.0.1:18080/
