#!/bin/sh
# What action.yml runs: its inputs, which are variables here and never part of a script, as flags.
set -u
if [ -z "${PROMPT:-}" ]; then
  echo "Error: The input 'prompt' is empty. Say what the agent is to do." >&2
  exit 2
fi
set --
if [ "${MODEL:-}" ]; then set -- "$@" --model "$MODEL"; fi
if [ "${FAIL_ON:-}" ]; then set -- "$@" --fail-on "$FAIL_ON"; fi
# One a line, so that none is split or expanded.
while IFS= read -r line; do
  if [ "$line" ]; then set -- "$@" "$line"; fi
done <<END
${ARGS:-}
END
exec sh "$(dirname -- "$0")/agent.sh" "$@" -- "$PROMPT"
