# PostgreSQL: a server of its own, pgbench by four clients, then queries whose results are compared.
# It is not recorded: every small object is drawn a pool.
source "$(dirname "$0")/case.sh"
scripts=$(dirname "$0")/postgresql
PATH=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1):$PATH

# The server does not run as root.
unprivileged() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid nobody --regid nogroup --clear-groups "$@"
  else
    "$@"
  fi
}

# Folders above the inputs and the run's are not for every user.
prepare() { :; }

ask() { unprivileged psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$home" -U soak "$@" postgres; }

run() {
  home=$(mktemp -d -t soak-postgresql-XXXXXX)
  trap 'unprivileged pg_ctl -D "$home/data" -m immediate -w stop >/dev/null 2>&1 || true; rm -rf "$home"' EXIT
  cp "$scripts"/*.sql "$home"
  chmod -R a+rX "$home"
  [ "$(id -u)" != 0 ] || chown nobody "$home"
  cd "$home"
  unprivileged initdb -D data -U soak -A trust --no-sync --locale C.UTF-8 >/dev/null
  unprivileged pg_ctl -D data -l log -w start >/dev/null \
    -o "-k $home -c listen_addresses= -c fsync=off -c max_parallel_workers_per_gather=2 -c jit=off"
  unprivileged pgbench -h "$home" -U soak -i -s 2 -q postgres 2>/dev/null
  unprivileged pgbench -h "$home" -U soak -n -c 4 -j 2 -t 700 --random-seed 42 postgres |
    grep -E 'processed|failed'
  unprivileged pgbench -h "$home" -U soak -n -c 4 -t 300 --random-seed 7 -b simple-update -M prepared \
    -C postgres | grep -E 'processed|failed'
  ask -f tables.sql
  ask -f queries.sql &
  ask -f queries.sql >again
  wait $!
  sha256sum again
  unprivileged pg_dump -h "$home" -U soak -t words -t tree postgres |
    grep -vE '^(--|.(un)?restrict )' | sort | sha256sum
  unprivileged vacuumdb -h "$home" -U soak -q -f -z postgres
  ask -f queries.sql | sha256sum
  unprivileged pg_ctl -D data -m fast -w stop >/dev/null
  ! grep -E 'PANIC|FATAL|terminated by signal' log
}

"$1"
