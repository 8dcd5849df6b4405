/** Opens the stream of log lines. A line that cannot be written, for example to a file on a full disk, never fails the work that logs it. */
import { pino } from "pino"

/** Bytes of lines that wait for a destination that takes none; they are written once it does. Later lines are dropped. */
const maxWaitingBytes = 1_048_576

/** Writes synchronously in this thread, so that a killed process has lost no line. */
export const openLogStream = (fd: number) => {
  const stream = pino.destination({ fd, sync: true, maxLength: maxWaitingBytes })
  // The listener of pino throws every error except that of a closed pipe.
  stream.removeAllListeners("error")
  stream.on("error", () => {})
  return stream
}
