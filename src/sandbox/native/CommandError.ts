/** Text of the failure of a command: what it printed, if it did. */
export const errorText = (cause: unknown): string => {
  const stderr = typeof cause === "object" && cause !== null && "stderr" in cause ? String(cause.stderr).trim() : ""
  return stderr === "" ? String(cause) : stderr
}
