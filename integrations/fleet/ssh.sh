#!/bin/sh
# One worker of one run on each machine, over ssh: COURSER_FLEET=nats://… ssh.sh [-n RUNS] HOST…
# The keys of the models are those of the machines. Ends when all workers have; fails when one did.
set -eu
: "${COURSER_FLEET:?the address of the fleet, such as nats://queue.example:4222}"
runs=1
if [ "${1:-}" = -n ]; then
  runs=$2
  shift 2
fi
[ $# -gt 0 ] || { echo "usage: ssh.sh [-n RUNS] HOST..." >&2; exit 2; }

# The address goes over stdin: a login in it is in no list of processes.
command='read -r COURSER_FLEET; export COURSER_FLEET; exec courser worker start --single-use --idle-release-timeout 60 --pool '"${COURSER_POOL:-default}"
started=
for host in "$@"; do
  run=0
  while [ "$run" -lt "$runs" ]; do
    printf '%s\n' "$COURSER_FLEET" | ssh -o BatchMode=yes "$host" "$command" &
    started="$started $!"
    run=$((run + 1))
  done
done
failed=0
for worker in $started; do
  wait "$worker" || failed=1
done
exit "$failed"
