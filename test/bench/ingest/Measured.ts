/** The side of a measured server that talks to the benchmark: says its port, and on request what it has used so far. */

export interface Usage {
  /** User and system CPU of the process so far, in microseconds. */
  readonly cpuMicros: number
  readonly rss: number
}

export const report = (port: number): void => {
  process.on("message", () => {
    const { system, user } = process.cpuUsage()
    process.send?.({ cpuMicros: user + system, rss: process.memoryUsage.rss() } satisfies Usage)
  })
  process.on("disconnect", () => process.exit(0))
  process.send?.({ port })
}
