# The parent of one server: see `keeper.rs`. Usage: keeper.sh FOLDER SERVER ARGUMENTS...
# Reads an order a line and answers each with a line; at the end of its input it ends the server.
folder=$1
shift
server=
while read -r order; do
    answer=done
    case $order in
        start) "$@" >>"$folder/log" 2>&1 </dev/null & server=$! ;;
        lives) kill -0 "$server" 2>/dev/null || answer=no ;;
        KILL) kill -KILL "$server"; wait "$server" 2>/dev/null ;;
        *) kill -"$order" "$server" ;;
    esac
    echo "$answer"
done
if [ -n "$server" ]; then
    kill -KILL "$server" 2>/dev/null
    wait "$server" 2>/dev/null
fi
# A server of several processes may still be writing its last files.
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
