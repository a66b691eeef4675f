# Bare Debian systems, made by debootstrap, to try things in; sourced by bare.sh and packaging/try_deb.sh.
# A system gets this machine's sources of packages, with another release, its settings of apt and pip, its
# certificates and proxies, so that it reaches the servers that this machine reaches.
# shellcheck shell=bash

# Runs the calling script again, with its arguments, in a mount and process namespace of its own. Mounts
# and processes end with it, however it ends.
enter_namespaces() {
  local name=${0##*/}
  [ -z "${HALO_IN_NAMESPACES:-}" ] || return 0
  [ "$(id -u)" = 0 ] || { echo "${name%.sh}: needs root, as debootstrap and chroot do" >&2; exit 2; }
  command -v debootstrap >/dev/null ||
    { echo "${name%.sh}: needs debootstrap; run: apt-get install debootstrap" >&2; exit 2; }
  HALO_IN_NAMESPACES=1 exec unshare --mount --pid --fork --kill-child bash "$0" "$@"
}

# The name of this machine's release of Debian; none on another system.
our_release() { (. /etc/os-release && [ "$ID" != debian ] || echo "$VERSION_CODENAME"); }

# RELEASE FOLDER: writes this machine's sources of packages, with that release, to the folder; none if they are
# not Debian's.
write_sources() {
  local release=$1 folder=$2 ours file
  ours=$(our_release)
  [ -n "$ours" ] || return 0
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    grep -qsE "^(Suites:|deb ).*[[:blank:]]$ours\b" "$file" || continue
    sed -E "/^(Suites:|deb )/ s/([[:blank:]])$ours\b/\1$release/g" "$file" >"$folder/${file##*/}"
  done
}

# RELEASE ROOT [PACKAGE,...]: makes a system of debootstrap's smallest kind and these packages.
make_system() {
  local release=$1 root=$2 sources mirror=() file
  sources=$(mktemp -d)
  write_sources "$release" "$sources"
  mapfile -t mirror < <(grep -rhoE '^(URIs:|deb ).*' "$sources" | grep -oE -m 1 '[a-z+]+://[^ ]+')
  debootstrap --variant=minbase --include="ca-certificates${3:+,$3}" "$release" "$root" "${mirror[@]}"
  if [ ${#mirror[@]} -gt 0 ]; then
    rm -f "$root/etc/apt/sources.list"
    cp "$sources"/* "$root/etc/apt/sources.list.d"
  fi
  rm -r "$sources"
  for file in /etc/apt/apt.conf.d/* /etc/apt/keyrings /etc/apt/trusted.gpg.d /usr/local/share/ca-certificates \
    /etc/ssl/certs /etc/pip.conf /root/.config/pip /root/.pip; do
    [ -e "$file" ] || continue
    # A package's own settings of apt are in the system if the package is.
    [[ $file != /etc/apt/apt.conf.d/* ]] || ! dpkg-query --search "$file" >/dev/null 2>&1 || continue
    mkdir -p "$root${file%/*}"
    cp -a "$file" "$root${file%/*}"
  done
  cp -L /etc/resolv.conf /etc/hosts "$root/etc"
}

# ROOT: mounts what programs expect of a running system.
mount_all() {
  mount -t proc proc "$1/proc"
  mount --rbind /sys "$1/sys"
  mount --rbind /dev "$1/dev"
}

# ROOT COMMAND ...: runs the command in the system. Of the environment, it gets proxies and certificates.
enter() {
  local root=$1 kept
  shift
  mapfile -t kept < <(env | grep -iE '^((https?|ftp|all|no)_proxy|PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT|PROXY)|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_CAINFO)=')
  chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive "${kept[@]}" "$@"
}
