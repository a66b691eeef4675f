#!/bin/bash
# Makes build/deb/halo-placement_VERSION_amd64.deb of what is built; prints its path.
# DEBFULLNAME and DEBEMAIL, or else git's user, are its maintainer.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/launchers.sh
umask 022
unset DESTDIR

name=halo-placement
python=.venv/bin/python3
debian=scripts/packaging/debian
work=build/deb
tree=$work/tree
share=$tree/usr/share
home=$tree/usr/lib/halo
maintainer=${DEBFULLNAME:-$(git config user.name || echo The halo authors)}
maintainer+=" <${DEBEMAIL:-$(git config user.email || echo halo@example.org)}>"

# Ordered by time, so that apt upgrades to a later commit.
find_version() {
  local ours commit=""
  ours=$($python -c 'import halo; print(halo.__version__)')
  commit=$(git log -1 --format=%cd.%h --date=format:%Y%m%d%H%M%S 2>/dev/null) || commit=""
  version=$ours${commit:++git$commit}
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=$(date +%s)
  export SOURCE_DATE_EPOCH
}

# Packages that Debian does not have, or has too old, for each Python of the releases.
fetch_wheels() {
  local wanted release
  wanted=$($python -c 'import tomllib
needed = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]
print(*(it for it in needed if it.startswith(("iced-x86", "msgspec"))), sep="\n")')
  if [ "$(cat $work/wheels/wanted 2>/dev/null)" = "$wanted" ]; then return; fi
  rm -rf $work/wheels
  for release in 3.11 3.12 3.13; do
    # shellcheck disable=SC2086 # one requirement a word
    $python -m pip download --quiet --disable-pip-version-check --only-binary=:all: --no-deps \
      --python-version $release --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
      --dest $work/wheels $wanted
  done
  echo "$wanted" >$work/wheels/wanted
}

# Of several wheels of one package, the extension modules differ by name and the rest is the same.
install_python() {
  local wheel
  # From a copy, as an installation may build in the checkout at the same time.
  rm -rf $work/source
  mkdir -p $work/source
  cp -a halo pyproject.toml README.md LICENSE $work/source
  $python -m pip wheel --quiet --disable-pip-version-check --use-pep517 --no-deps -w $work/own $work/source
  for wheel in $work/wheels/*.whl $work/own/*.whl; do
    $python -m zipfile -e "$wheel" "$home/python"
  done
  rm -rf "$home"/python/*.dist-info "$home"/python/*.libs
  find "$home/python" -name '*.pyi' -delete
}

# The libraries are private; halo-cc links with them by their path.
install_native() {
  cmake --install build --prefix $tree/usr >build/install.log
  mv $tree/usr/lib/libhalo-tidy.a "$home/lib"
  rm $tree/usr/lib/libhalo-tidy.so
}

strip_all() {
  find "$home" -name '*.so' -exec strip --strip-unneeded {} +
  strip --strip-unneeded "$home"/bin/* "$home/lib/valgrind/halo-amd64-linux"
  strip --strip-debug "$home/lib/libhalo-tidy.a"
}

install_commands() {
  mkdir -p $tree/usr/bin
  make_launcher $debian/halo.in $tree/usr/bin/halo
  make_compilers $tree/usr/bin ../lib/halo/lib
  describe_installation "$home" "apt-get install --reinstall $name" \
    'python3 -m pip install --target ~/.local/share/halo/python{python} {package} numpy'
}

install_texts() {
  local documents=$share/doc/$name
  mkdir -p "$documents" $share/lintian/overrides
  install -m 644 $debian/copyright "$documents"
  install -m 644 $debian/lintian-overrides $share/lintian/overrides/$name
  printf '%s (%s) unstable; urgency=medium\n\n  * Made from a checkout.\n\n -- %s  %s\n' $name "$version" \
    "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$documents/changelog.gz"
  $python scripts/packaging/generate_manual.py $share/man/man1
  gzip -9n $share/man/man1/*.1
  $python scripts/packaging/generate_completions.py $share
  mkdir -p $share/zsh/vendor-completions # Debian's zsh searches here
  mv $share/zsh/site-functions/_halo $share/zsh/vendor-completions && rmdir $share/zsh/site-functions
}

# The versions of shared libraries that the executables need, as dpkg-shlibdeps finds them.
find_libraries() {
  local files
  mapfile -t files < <(find "$home" -type f \( -name '*.so' -o -perm -100 \) -not -path '*/valgrind/*')
  mkdir -p $work/debian
  printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' $name $name >$work/debian/control
  (cd $work && dpkg-shlibdeps -O --ignore-missing-info "${files[@]/#$work\//}" 2>shlibdeps.log) |
    sed 's/^shlibs:Depends=//; s/, libzydis[^,]*//' # which is in the package
}

write_control() {
  local libraries size
  libraries=$(find_libraries)
  size=$(du -sk --apparent-size $tree | cut -f1)
  mkdir -p $tree/DEBIAN
  sed -e "s|@VERSION@|$version|; s|@MAINTAINER@|$maintainer|; s|@SIZE@|$size|; s|@LIBRARIES@|$libraries|" \
    $debian/control.in >$tree/DEBIAN/control
  install -m 755 $debian/postinst $debian/prerm $tree/DEBIAN
  (cd $tree && find usr -type f -print0 | sort -z | xargs -0 md5sum) >$tree/DEBIAN/md5sums
}

rm -rf $tree $work/own $work/*.deb
mkdir -p "$home"
find_version
fetch_wheels
install_native
install_python
strip_all
install_commands
install_texts
write_control
package=$work/${name}_${version}_amd64.deb
dpkg-deb --root-owner-group --build $tree "$package" >/dev/null
echo "$package"
