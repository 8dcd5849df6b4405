/**
 * Runs a monitor under a shell that ends it together with the service. What runs in a machine may ignore the end of its device, so the
 * machine itself must not decide on that. Descriptor 3 is a pipe that only the service holds: its end is that of the service. Pure.
 */

/** Background programs of a shell have no stdin of their own, so it is kept as descriptor 4. */
const script = `exec 4<&0 </dev/null
"$@" <&4 3<&- 4<&- &
monitor=$!
exec 4<&-
{ read -r line <&3; kill -9 $monitor; } >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait $monitor
code=$?
kill -9 $watcher
exit $code`

export const withLifeline = (argv: ReadonlyArray<string>): ReadonlyArray<string> => [
  "/bin/sh",
  "-c",
  script,
  "sh",
  ...argv
]
