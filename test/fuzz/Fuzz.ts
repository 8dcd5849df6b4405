/**
 * Runs a target in a thread and watches it: a run that uses more than ten seconds of CPU time is a finding, with its input.
 * Wall-clock time proves nothing, because the fuzzer may run at the lowest priority next to other work.
 */
import { Worker } from "node:worker_threads"
import type { Explored } from "./Explore.ts"
import type { ThreadInput } from "./FuzzThread.ts"

export interface FuzzOptions {
  readonly millis: number
  readonly runs?: number | undefined
  readonly seed: number
  /** CPU time that one run may take; ten seconds unless given. */
  readonly hangMillis?: number | undefined
}

const headerBytes = 12
/** Longer than any target's inputs. */
const sharedBytes = 1_048_576
const pollMillis = 250
/** The stack of a main thread, where the service parses. A thread has four times as much: nesting goes deeper, and collection is slower. */
const resourceLimits = { stackSizeMb: 1 }
/** Wall-clock limit: a thread that does not report its CPU time for this long is in a call that cannot be interrupted. */
const silenceMillis = 180_000

const cpuMillis = async (worker: Worker): Promise<number> => {
  const { user, system } = await worker.cpuUsage()
  return (user + system) / 1000
}

export const fuzz = (target: string, options: FuzzOptions): Promise<Explored> =>
  new Promise((resolve, reject) => {
    const shared = new SharedArrayBuffer(headerBytes + sharedBytes)
    const header = new Int32Array(shared, 0, 3)
    const { millis, runs, seed, hangMillis = 10_000 } = options
    const input: ThreadInput = { target, millis, runs, seed, shared }
    const worker = new Worker(new URL("FuzzThread.ts", import.meta.url), { workerData: input, resourceLimits })
    const clocks = { run: 0, startedAt: 0, reportedAt: performance.now(), polling: false }

    const isRunning = () => Atomics.load(header, 2) === 1
    /** A CPU time belongs to a run that began before it was requested and has not ended since. */
    const poll = async () => {
      const run = isRunning() ? Atomics.load(header, 0) : 0
      const used = await cpuMillis(worker)
      clocks.reportedAt = performance.now()
      if (run === 0 || run !== Atomics.load(header, 0) || !isRunning()) return
      if (run !== clocks.run) Object.assign(clocks, { run, startedAt: used })
      else if (used - clocks.startedAt > hangMillis) hang(`did not end within ${hangMillis} ms of CPU time`)
    }
    const watch = setInterval(() => {
      if (performance.now() - clocks.reportedAt > silenceMillis)
        hang(`could not be interrupted for ${silenceMillis} ms`)
      if (clocks.polling) return
      clocks.polling = true
      // Rejected once the thread has ended, which the events below report.
      void poll()
        .catch(() => {})
        .finally(() => (clocks.polling = false))
    }, pollMillis)
    const hang = (problem: string) => {
      const hanging = new Uint8Array(shared, headerBytes, Atomics.load(header, 1)).slice()
      end({ runs: Atomics.load(header, 0), kept: 0, finding: { input: hanging, problem } })
    }
    const end = (explored: Explored) => {
      clearInterval(watch)
      resolve(explored)
      void worker.terminate()
    }
    worker.once("message", end)
    worker.once("error", (error) => {
      clearInterval(watch)
      reject(error)
    })
  })
