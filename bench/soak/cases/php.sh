# php: its own tests of nearly everything in one script, with the C library's malloc for all objects.
# Debian's php opens its extensions with RTLD_DEEPBIND, so that they free what others allocate.
source "$(dirname "$0")/case.sh"
script=$(dirname "$0")/php/tour.php

prepare() { :; }
train() { record php -d opcache.enable_cli=0 "$script" 1 >out; }
run() { php -d opcache.enable_cli=0 "$script" 60; }

"$1"
