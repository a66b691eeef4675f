# sqlite3: databases in files and in memory; a run's database files are part of its result.
source "$(dirname "$0")/case.sh"
scripts=$(dirname "$0")/sqlite3

prepare() { :; }

train() {
  for script in "$scripts"/*.sql; do
    record sqlite3 train.db -cmd ".parameter set @rows 1500" ".read $script" >>train.out
  done
}

run() {
  for script in "$scripts"/*.sql; do
    echo "== $(basename "$script")"
    sqlite3 "$(basename "$script" .sql).db" -cmd ".parameter set @rows 40000" ".read $script"
  done
  for database in *.db; do
    sqlite3 "$database" .dump | sqlite3 "again-$database"
    sqlite3 "again-$database" "pragma integrity_check" .schema
  done
}

"$1"
