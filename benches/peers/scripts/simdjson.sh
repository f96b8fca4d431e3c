#!/bin/sh
# Builds bin/count_simdjson from the source $1 in the folder $2, and prints the version of simdjson. Takes the
# library of the system. If it has none, and $3 is not --offline, unpacks Debian's packages below the folder.
set -eu
root=$2/simdjson
header=/usr/include/simdjson.h
if [ ! -e "$header" ]; then
    header=$root$header
    if [ ! -e "$header" ]; then
        [ "${3:-}" != --offline ]
        mkdir -p "$root"
        cd "$root"
        library=$(apt-cache depends libsimdjson-dev | sed -n 's/ *Depends: \(libsimdjson[0-9]*\)$/\1/p')
        apt-get -qq download libsimdjson-dev "$library"
        for package in *.deb; do dpkg-deb -x "$package" .; done
    fi
fi
mkdir -p "$2/bin"
libraries=$root/usr/lib/$(c++ -dumpmachine)
c++ -std=c++17 -O3 -march=native -DNDEBUG -isystem "$root/usr/include" "$1" -o "$2/bin/count_simdjson" \
    "-L$libraries" "-Wl,-rpath,$libraries" -lsimdjson
sed -n 's/^#define SIMDJSON_VERSION "*\([0-9.]*\)"*$/\1/p' "$header"
