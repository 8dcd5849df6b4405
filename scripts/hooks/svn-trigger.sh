#!/bin/sh
# Reports a committed Subversion revision to aicr. Never delays or fails a commit: it always exits with 0, works in the
# background, repeats a failed call once, and writes errors to a log on this machine.
#
# Install on the Subversion server, in hooks/post-commit of the repository:
#   /path/to/svn-trigger.sh "$1" "$2"
#
# Settings, from the environment or from svn-trigger.conf in the folder of this file (NAME=value lines of shell; hooks start with an
# empty environment):
#   AICR_URL       base URL of aicr, with its path prefix: https://aicr.example (required)
#   AICR_API_KEY   the API key, global or of a workspace (required), or
#   AICR_API_KEY_FILE  a file that contains it
#   AICR_TRIGGER   the name of a trigger of this repository in the configuration of aicr; required if svnlook
#                  is not installed and aicr has triggers of several repositories
#   AICR_LOG       log file; default: $TMPDIR/aicr-svn-trigger.log
#   AICR_TIMEOUT   timeout of one call in seconds; default: 10
#   AICR_RETRY_AFTER  seconds until the call is repeated once; default: 15
#   AICR_CA_FILE   certificate authorities to trust

name=svn-trigger
endpoint=svn
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
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
    printf 'header = "X-API-Key: %s"\n' "$key" |
      curl --config - --silent --show-error --max-time "${AICR_TIMEOUT:-10}" ${AICR_CA_FILE:+--cacert "$AICR_CA_FILE"} \
        --write-out '\n%{http_code}' --request POST \
        --data-urlencode "revision=$revision" --data-urlencode "repository=$uuid" --data-urlencode "author=$author" \
        --data-urlencode "changed_files=$files" ${AICR_TRIGGER:+--data-urlencode "trigger=$AICR_TRIGGER"} \
        "${AICR_URL%/}/triggers/$endpoint" 2>&1 | tail -c 2000
  )
  case ${answer##*
} in
    202) return 0 ;;
    *) return 1 ;;
  esac
}

report() {
  repository=$1 revision=$2
  case $revision in '' | *[!0-9]*) say 'called without a repository and the number of a revision'; return ;; esac
  [ -n "$AICR_URL" ] || { say "revision $revision not reported: AICR_URL is not set"; return; }
  key=$AICR_API_KEY
  [ -n "$key" ] || { [ -r "$AICR_API_KEY_FILE" ] && key=$(cat "$AICR_API_KEY_FILE"); }
  [ -n "$key" ] || { say "revision $revision not reported: set AICR_API_KEY or AICR_API_KEY_FILE"; return; }
  # One line, within quotes of a file of curl.
  key=$(printf '%s\n' "$key" | tr -d '\r' | sed 's/[\\"]/\\&/g; q')
  command -v curl >/dev/null 2>&1 || { say "revision $revision not reported: curl is not installed"; return; }

  author= files= uuid=
  if command -v svnlook >/dev/null 2>&1; then
    # Hooks start without a locale, in which svnlook replaces other characters than ASCII.
    author=$(LC_ALL=C.UTF-8 svnlook author -r "$revision" "$repository" 2>/dev/null | head -n 1 | cut -c1-255)
    uuid=$(svnlook uuid "$repository" 2>/dev/null)
    # Within the length of an argument, which is 128 KiB on Linux, also if each character has four bytes.
    files=$(
      LC_ALL=C.UTF-8 svnlook changed -r "$revision" "$repository" 2>/dev/null |
        cut -c5- | awk '{ length_ += length($0) + 1; if (NR > 1000 || length_ > 30000) exit; print }'
    )
  fi

  # One repetition, for a service that restarts; the service recognises a report that arrives twice.
  send && return
  sleep "${AICR_RETRY_AFTER:-15}"
  send || say "revision $revision not reported: $(printf '%s' "$answer" | tr '\n' ' ' | tr -d '\000-\037\177' | tail -c 500)"
}

# In the background, with no files of the commit open, so that the server does not wait for it.
# Invalid settings end only this part.
(
  [ -r "$here/$name.conf" ] && . "$here/$name.conf"
  log=${AICR_LOG:-$log}
  report "$1" "$2"
) </dev/null >/dev/null 2>&1 &
exit 0
