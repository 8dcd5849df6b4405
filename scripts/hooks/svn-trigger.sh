#!/bin/sh
# Reports a committed Subversion revision to aicr. Never holds up or fails a commit: it exits 0 whatever happens, gives up after a
# few seconds, and writes what went wrong to a log on this machine.
#
# Install on the Subversion server, in hooks/post-commit of the repository:
#   /path/to/svn-trigger.sh "$1" "$2"
#
# Settings, from the environment or from svn-trigger.conf beside this file (NAME=value lines of shell; hooks start with an
# empty environment):
#   AICR_URL       where aicr listens, with its path prefix: https://aicr.example (required)
#   AICR_API_KEY   the API key, global or of a workspace (required), or
#   AICR_API_KEY_FILE  a file that holds it
#   AICR_LOG       log file; $TMPDIR/aicr-svn-trigger.log when left out
#   AICR_TIMEOUT   seconds for the whole call; 10 when left out
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

report() {
  repository=$1 revision=$2
  [ -n "$revision" ] || { say 'called without a repository and a revision'; return; }
  [ -n "$AICR_URL" ] || { say "revision $revision not reported: AICR_URL is not set"; return; }
  key=$AICR_API_KEY
  [ -n "$key" ] || { [ -r "$AICR_API_KEY_FILE" ] && key=$(cat "$AICR_API_KEY_FILE"); }
  [ -n "$key" ] || { say "revision $revision not reported: neither AICR_API_KEY nor AICR_API_KEY_FILE gives a key"; return; }
  command -v curl >/dev/null 2>&1 || { say "revision $revision not reported: curl is not installed"; return; }

  author= files=
  if command -v svnlook >/dev/null 2>&1; then
    author=$(svnlook author -r "$revision" "$repository" 2>/dev/null)
    files=$(svnlook changed -r "$revision" "$repository" 2>/dev/null | cut -c5- | head -n 1000)
  fi

  # The key goes in by standard input: arguments are seen by everybody on this machine.
  answer=$(
    printf 'header = "X-API-Key: %s"\n' "$key" |
      curl --config - --silent --show-error --max-time "${AICR_TIMEOUT:-10}" ${AICR_CA_FILE:+--cacert "$AICR_CA_FILE"} \
        --write-out '\n%{http_code}' --request POST \
        --data-urlencode "revision=$revision" --data-urlencode "author=$author" \
        --data-urlencode "changed_files=$files" "${AICR_URL%/}/triggers/$endpoint" 2>&1
  )
  case ${answer##*
} in
    202) ;;
    *) say "revision $revision not reported: $(printf '%s' "$answer" | tr '\n' ' ' | cut -c1-500)" ;;
  esac
}

# In the background, with nothing of the commit held open: the server does not wait for it.
# What is wrong with the settings ends this part only.
(
  [ -r "$here/$name.conf" ] && . "$here/$name.conf"
  log=${AICR_LOG:-$log}
  report "$1" "$2"
) </dev/null >/dev/null 2>&1 &
exit 0
