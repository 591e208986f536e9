# The parent of one server: see `keeper.rs`. Usage: keeper.sh FOLDER SERVER ARGUMENTS...
# Reads orders, one on each line, and answers each with a line. At the end of its input it ends the
# server.
folder=$1
shift
server=
# Signals the server and its child processes: PostgreSQL has one for each connection.
all() {
    children=$(cat "/proc/$server/task/$server/children" 2>/dev/null)
    # shellcheck disable=SC2086
    kill -"$1" "$server" $children 2>/dev/null
}
while read -r order; do
    answer=done
    case $order in
        start) "$@" >>"$folder/log" 2>&1 </dev/null & server=$! ;;
        lives) kill -0 "$server" 2>/dev/null || answer=no ;;
        KILL) all KILL; wait "$server" 2>/dev/null ;;
        *) all "$order" ;;
    esac
    echo "$answer"
done
if [ -n "$server" ]; then
    all KILL
    wait "$server" 2>/dev/null
fi
# A server with several processes may still be writing its last files.
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
