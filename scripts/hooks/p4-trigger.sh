#!/bin/sh
# Reports a submitted or shelved Perforce changelist to aicr. Never delays or fails a submit: it always exits with 0, works in the
# background, repeats a failed call once, and writes errors to a log on this machine.
#
# Install on the Perforce server, as lines of `p4 triggers` (`aicr hooks print p4` prints them with the paths of a configuration). The second
# line reviews changelists before their submit, and the third one reports that their shelves were deleted:
#   aicr-submit change-commit //depot/main/... "/path/to/p4-trigger.sh %change% %user% %client% //depot/main/... %oldchange%"
#   aicr-shelve shelve-commit //depot/main/... "/path/to/p4-trigger.sh %change% %user% %client% //depot/main/..."
#   aicr-delete shelve-delete //depot/main/... "/path/to/p4-trigger.sh %change% %user% %client% //depot/main/... deleted"
#
# Settings, from the environment or from p4-trigger.conf in the folder of this file (NAME=value lines of shell):
#   AICR_URL       base URL of aicr, with its path prefix: https://aicr.example (required)
#   AICR_API_KEY   the API key, global or of a workspace (required), or
#   AICR_API_KEY_FILE  a file that contains it
#   AICR_TRIGGER   the name of a trigger of this server in the configuration of aicr; required if aicr has
#                  triggers of several servers
#   AICR_LOG       log file; default: $TMPDIR/aicr-p4-trigger.log
#   AICR_TIMEOUT   timeout of one call in seconds; default: 10
#   AICR_RETRY_AFTER  seconds until the call is repeated once; default: 15
#   AICR_DELETED_AFTER  seconds until a deleted shelf is reported, because its trigger runs before the files are deleted; default: 5
#   AICR_CA_FILE   certificate authorities to trust

name=p4-trigger
endpoint=p4
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
log=${AICR_LOG:-${TMPDIR:-/tmp}/aicr-$name.log}

say() {
  { printf '%s %s: %s\n' "$(date -u '+%Y-%m-%dT%H:%M:%SZ')" "$name" "$1" >>"$log"; } 2>/dev/null
  return 0
}

# Calls the service with the variables of `report`. Leaves the end of the response in $answer.
send() {
  # The key is passed on standard input because all users of this machine can see arguments.
  answer=$(
    printf 'header = "X-API-Key: %s"\nheader = "Idempotency-Key: %s"\n' "$key" "$call" |
      curl --config - --silent --show-error --max-time "${AICR_TIMEOUT:-10}" ${AICR_CA_FILE:+--cacert "$AICR_CA_FILE"} \
        --write-out '\n%{http_code}' --request POST \
        --data-urlencode "change=$change" --data-urlencode "user=$user" --data-urlencode "client=$client" \
        --data-urlencode "depot_path=$path" ${old:+--data-urlencode "old_change=$old"} ${deleted:+--data-urlencode "shelf_deleted=1"} \
        ${AICR_TRIGGER:+--data-urlencode "trigger=$AICR_TRIGGER"} "${AICR_URL%/}/triggers/$endpoint" 2>&1 | tail -c 2000
  )
  case ${answer##*
} in
    202) return 0 ;;
    *) return 1 ;;
  esac
}

report() {
  change=$1 user=$2 client=$3 path=$4 old=$5 deleted=
  case $old in deleted) old= deleted=1 ;; esac
  case $change in '' | *[!0-9]*) say 'called without a changelist: is %change% in the trigger line?'; return ;; esac
  [ -n "$AICR_URL" ] || { say "changelist $change not reported: AICR_URL is not set"; return; }
  key=$AICR_API_KEY
  [ -n "$key" ] || { [ -r "$AICR_API_KEY_FILE" ] && key=$(cat "$AICR_API_KEY_FILE"); }
  [ -n "$key" ] || { say "changelist $change not reported: set AICR_API_KEY or AICR_API_KEY_FILE"; return; }
  # One line, within quotes of a file of curl.
  key=$(printf '%s\n' "$key" | tr -d '\r' | sed 's/[\\"]/\\&/g; q')
  command -v curl >/dev/null 2>&1 || { say "changelist $change not reported: curl is not installed"; return; }

  [ -z "$deleted" ] || sleep "${AICR_DELETED_AFTER:-5}"
  # A changelist keeps its number when it is shelved again, so each call of this script is a report of its own.
  call=p4-$change-$(date -u '+%Y%m%d%H%M%S')-$$
  # One repetition, for a service that restarts; the service recognises a report that arrives twice.
  send && return
  sleep "${AICR_RETRY_AFTER:-15}"
  send || say "changelist $change not reported: $(printf '%s' "$answer" | tr '\n' ' ' | tr -d '\000-\037\177' | tail -c 500)"
}

# In the background, with no files of the submit open, so that the server does not wait for it.
# Invalid settings end only this part.
(
  [ -r "$here/$name.conf" ] && . "$here/$name.conf"
  log=${AICR_LOG:-$log}
  report "$1" "$2" "$3" "$4" "$5"
) </dev/null >/dev/null 2>&1 &
exit 0
