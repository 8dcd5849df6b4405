/** The part of a measured server that reports to the benchmark: its port, and on request the resources used so far. */

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
