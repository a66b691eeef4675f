# git: a clone of this repository is read, changed, merged, packed and checked.
source "$(dirname "$0")/case.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=gc.auto GIT_CONFIG_VALUE_0=0
export GIT_CONFIG_KEY_1=safe.directory GIT_CONFIG_VALUE_1='*'
export GIT_CONFIG_KEY_2=init.defaultBranch GIT_CONFIG_VALUE_2=trunk
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='2000-01-01 00:00 +0000'
export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org GIT_COMMITTER_DATE='2000-01-01 00:00 +0000'

# Later commits to the checkout do not matter.
prepare() { git clone --quiet --mirror "$SOAK_REPOSITORY" "$SOAK_INPUTS/origin.git"; }

blamed() { git ls-files '*.cc' '*.py' '*.md' | sed -n "1,$1p"; }

train() {
  record git clone --quiet --local "$SOAK_INPUTS/origin.git" copy
  cd copy
  {
    record git log -p --stat -M -8
    record git log --graph --oneline --all
    record git blame -C "$(blamed 1)"
    record git diff --stat --histogram HEAD~4 HEAD
    record git grep -n 'return' HEAD
    blamed 9 | xargs sed -i 's/the/THE/'
    record git status
    record git add -A
    record git commit --quiet -m change
    record git cat-file --batch-all-objects --batch-check
    record git fsck --full
    record git pack-objects --quiet --all --no-reuse-delta --threads=2 packed </dev/null
    record git index-pack packed-*.pack
    record git archive HEAD
  } >out
}

# A branch of small commits, of which every third is merged back.
work() {
  local number
  for number in 1 2 3 4 5 6 7 8 9; do
    git checkout --quiet -b "branch$number"
    git ls-files | sed -n "$((number * 7))~23p" | xargs sed -i "s/e\$/e $number/"
    seq $((number * 1000)) $((number * 1000 + 3000)) >"numbers$number"
    git add -A
    git commit --quiet -m "change $number"
    [ $((number % 3)) = 0 ] || continue
    git checkout --quiet "branch$((number - 2))"
    git merge --quiet -m "merge $number" "branch$number"
  done
  git checkout --quiet -b side origin/HEAD
  for number in 1 2; do
    seq $number 5 2000 >"side$number"
    git add -A
    git commit --quiet -m "side $number"
  done
  git checkout --quiet branch7
  git cherry-pick side~1 >/dev/null
  git rebase --quiet branch7 side
  git format-patch --quiet --stdout -3 | sha256sum
}

read_history() {
  git log -p --stat --all -M -C | sha256sum
  git log --graph --format='%h %s' --all
  git diff --histogram "$(git rev-list --max-parents=0 HEAD | tail -n 1)" HEAD | sha256sum
  git diff --word-diff --minimal HEAD~2 HEAD | sha256sum
  blamed 12 | while read -r file; do git blame -M -C "$file"; done | sha256sum
  git grep -n -e 'return' HEAD | sha256sum
  git shortlog -s HEAD
  git archive HEAD | sha256sum
}

pack() {
  git fsck --full --strict
  git gc --quiet --prune=now
  git -c pack.threads=1 repack -adfq --window=40
  (cd .git/objects/pack && sha256sum -- *.pack)
  # With several threads the packs may differ, the objects in them may not.
  git -c pack.threads=2 repack -adfq
  git cat-file --batch-all-objects --batch-check | sha256sum
  git verify-pack .git/objects/pack/*.idx
  git bundle create --quiet ../all.bundle --all
  git clone --quiet --mirror ../all.bundle ../again.git
  git -C ../again.git fsck --full
  git -C ../again.git for-each-ref
}

run() {
  git clone --quiet --local "$SOAK_INPUTS/origin.git" copy
  cd copy
  work
  read_history
  pack
  cd ..
  rm -rf copy again.git all.bundle
}

"$1"
