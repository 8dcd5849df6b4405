/** Adds what a file of tests costs to the times of the run (TimeReport.ts): from the end of the file before it in the same process, or from the start of the process. */
import { relative } from "node:path"
import { afterAll, expect } from "vitest"
import { readTreeMillis } from "./ProcessorTime.ts"
import { addTime, root } from "./TimeReport.ts"

interface Reading {
  readonly wallMillis: number
  readonly processorMillis: number
}

/** A process runs this file once for each file of tests. */
const shared: typeof globalThis & { aicrLastReading?: Reading } = globalThis

afterAll(async () => {
  const before = shared.aicrLastReading ?? { wallMillis: 0, processorMillis: 0 }
  const now = { wallMillis: performance.now(), processorMillis: await readTreeMillis(process.pid) }
  shared.aicrLastReading = now
  addTime({
    file: relative(root, expect.getState().testPath ?? ""),
    wallSeconds: (now.wallMillis - before.wallMillis) / 1000,
    processorSeconds: Math.max(0, now.processorMillis - before.processorMillis) / 1000
  })
})
