# redis: a server on a socket in the run's folder is filled by scripts and clients; its digest counts.
source "$(dirname "$0")/case.sh"
scripts=$(dirname "$0")/redis

prepare() { :; }

start() {
  "$@" --port 0 --unixsocket "$PWD/socket" --save '' --daemonize no --enable-debug-command yes \
    --dir "$PWD" --logfile "$PWD/log" &
  server=$!
  trap '{ kill "$server"; wait "$server"; } 2>/dev/null || true' EXIT
  until ask PING >/dev/null 2>&1; do
    kill -0 $server || return 1
    sleep 0.1
  done
}

stop() {
  ask SHUTDOWN NOSAVE || true
  wait $server
  rm -f log socket
}

ask() { redis-cli -s socket "$@"; }

train() {
  start record redis-server >out
  ask --eval "$scripts/fill.lua" , 3000 1 >>out
  stop
}

run() {
  local client clients
  start redis-server
  ask --eval "$scripts/fill.lua" , 60000 1
  ask DEBUG DIGEST
  clients=()
  for client in 2 3 4 5; do
    bash "$scripts/commands.sh" $client 6000 | ask --pipe >/dev/null &
    clients+=($!)
  done
  wait "${clients[@]}"
  ask DEBUG DIGEST
  ask BGSAVE
  while ask INFO persistence | grep -q 'bgsave_in_progress:1'; do sleep 0.1; done
  ask INFO persistence | grep rdb_last_bgsave_status
  ask DEBUG RELOAD
  ask DEBUG DIGEST
  ask --eval "$scripts/fill.lua" , 30000 7
  ask MEMORY PURGE
  ask DEBUG DIGEST
  ask FLUSHALL ASYNC
  ask --eval "$scripts/fill.lua" , 20000 9
  ask DEBUG DIGEST
  ask BGREWRITEAOF >/dev/null
  stop
  rm -rf dump.rdb temp-*.rdb appendonlydir
}

"$1"
