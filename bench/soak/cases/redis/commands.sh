# Commands on keys of one client's own, as lines: commands.sh CLIENT COUNT
awk -v client="$1" -v count="$2" 'BEGIN {
  state = client * 7919
  for (i = 0; i < count; ++i) {
    state = (state * 16807) % 2147483647
    key = client ":" state % 500
    value = sprintf("%0*d", 1 + state % 90, i)
    kind = int(state / 1000) % 7
    if (kind == 0) print "SET s" key, value
    if (kind == 1) print "HSET h" key, "f" state % 50, value
    if (kind == 2) print "RPUSH l" key, value
    if (kind == 3) print "ZADD z" key, state % 1000, "m" state % 40
    if (kind == 4) print "SADD e" key, value
    if (kind == 5) print "LTRIM l" key, 0, 20
    if (kind == 6) print "UNLINK s" key, "e" key
  }
}'
