#!/bin/bash
# Installs a Debian package of halo in a bare system, measures a program there, and removes it again.
# try_deb.sh PACKAGE RELEASE FOLDER: RELEASE is bookworm or trixie; FOLDER is where the system is made
# by debootstrap, unless it is there from an earlier call. Needs root, the network, 2 GB, and minutes.
set -euo pipefail
source "$(dirname "$0")/../bare_system.sh"
[ $# = 3 ] || { echo "try_deb: usage: try_deb.sh PACKAGE RELEASE FOLDER" >&2; exit 2; }
package=$(realpath "$1")
release=$2
root=$(realpath -m "$3")

# A program of pointers through small objects, which needs nothing but the C library.
make_program() {
  gcc -O1 -x c -o "$root/tmp/list" - <<'END'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
int main(int argc, char **argv) {
  if (argc < 3) return 2;
  struct node *heads[64] = {0};
  long count = atol(argv[1]), sum = 0;
  for (long i = 0; i < count; i++) {
    struct node *node = malloc(sizeof *node);
    *node = (struct node){heads[i % 64], i};
    heads[i % 64] = node;
    if (!malloc(16 + i % 7 * 8)) return 1;
  }
  for (long pass = atol(argv[2]); pass > 0; pass--)
    for (int list = 0; list < 64; list++)
      for (struct node *node = heads[list]; node; node = node->next) sum += node->value;
  printf("%ld\n", sum);
}
END
}

enter_namespaces "$@"
[ -e "$root/etc/debian_version" ] || make_system "$release" "$root"
mount_all "$root"
rm -rf "$root"/tmp/*
cp "$package" "$root/tmp/halo.deb"
make_program
enter "$root" apt-get update -qq
enter "$root" apt-get install -y -qq --no-install-recommends /tmp/halo.deb >"$root/tmp/install.log" 2>&1 ||
  { tail "$root/tmp/install.log" >&2; exit 1; }
enter "$root" bash -euxc '
  cd /tmp
  halo --version
  halo doctor
  halo run --results /tmp/results -- ./list 50000 100 -- ./list 100000 200
  halo report /tmp/results -o /tmp/page.html
  halo exec --plan /tmp/results/dense.plan -- ./list 1000 1
  halo record -o /tmp/own.profile -- ./list 1000 1 2>said
  ! grep ERROR said
  halo plot speedup -o /tmp/picture.png /tmp/results || [ $? = 114 ]'
enter "$root" apt-get purge -y -qq halo-placement >/dev/null
left=$(cd "$root" && find usr etc var/lib opt -xdev -path '*halo*')
rm -rf "$root"/tmp/*
[ -z "$left" ] || { echo "try_deb: the removal leaves $left" >&2; exit 1; }
echo "try_deb: $release: the package installs, measures, and leaves nothing"
