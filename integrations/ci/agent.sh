#!/bin/sh
# Runs an agent in a pipeline: what it does is told while it works, a summary goes where people look, and the exit code says
# whether the work was done. Where it may run, print and fail is up to the flags: they are those of the CLI.
#
#   sh agent.sh [flags] "prompt"
#
# STREAM   where the events go; agent-run.jsonl unless told
# SUMMARY  a file to which a summary in Markdown is added; on GitHub, that of the step
# COURSER  the program; courser unless told
set -u
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
SUMMARY=${SUMMARY:-${GITHUB_STEP_SUMMARY:-}} OUTPUTS=${GITHUB_OUTPUT:-} STREAM=${STREAM:-agent-run.jsonl}
export SUMMARY OUTPUTS STREAM

# A run that did nothing, or was not let, is no success here.
strict=yes
for word do
  case $word in
    --) break ;;
    --fail-on | --fail-on=*) strict= ;;
  esac
done
if [ "$strict" ]; then set -- --fail-on denied,empty "$@"; fi

# What an agent and its commands print must not be taken for commands to the runner.
if [ "${GITHUB_ACTIONS:-}" ]; then
  token=$(node -p 'require("node:crypto").randomUUID()') || exit 1
  echo "::stop-commands::$token"
  trap 'echo "::$token::"' EXIT
fi

run() (
  # The files by which a step speaks to the runner are none of its business.
  unset GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE GITHUB_STEP_SUMMARY SUMMARY OUTPUTS
  exec "${COURSER:-courser}" -p --trust --output-format stream-json "$@"
)

# The exit code of the first in a pipe, in any shell: it is sent past the second.
exec 4>&1
status=$({ { run "$@" 3>&- 4>&-; echo $? >&3; } | node "$here/summary.mjs" 3>&- >&4; } 3>&1)
exit "${status:-1}"
