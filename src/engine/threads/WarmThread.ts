/**
 * Ends an idle thread. One of each kind stays warm for the review after a pause, which would otherwise start threads and compile parsers again:
 * four fifths of its processor time.
 */
const idleMillis = 20_000
const warmMillis = 600_000
/** Memory that the machine needs to have free for a warm thread, which takes about 70 MiB. */
const minFreeBytes = 512 * 1_048_576

/** Calls `end` after 20 seconds, or up to 10 minutes later while `isKept` returns true. Returns a function that cancels this. */
export const endIdle = (isKept: () => boolean, end: () => void): (() => void) => {
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const isWarm = performance.now() - startedAt < warmMillis && process.availableMemory() > minFreeBytes
    if (isWarm && isKept()) return
    clearInterval(timer)
    end()
  }, idleMillis).unref()
  return () => clearInterval(timer)
}
