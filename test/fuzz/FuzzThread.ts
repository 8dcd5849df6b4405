/**
 * The thread that explores one target. Copies each input into shared memory before it runs: [runs, length, is running, bytes…].
 * Between runs it measures coverage and mutates inputs, for whose time no input is responsible.
 */
import { parentPort, workerData } from "node:worker_threads"
import { explore } from "./Explore.ts"
import { targetNamed } from "./Targets.ts"

export interface ThreadInput {
  readonly target: string
  readonly millis: number
  readonly runs: number | undefined
  readonly seed: number
  readonly shared: SharedArrayBuffer
}

const { target: name, millis, runs, seed, shared }: ThreadInput = workerData
const [header, room] = [new Int32Array(shared, 0, 3), new Uint8Array(shared, 12)]

const explored = await explore(targetNamed(name), {
  millis,
  runs,
  seed,
  onInput: (input) => {
    room.set(input.subarray(0, room.length))
    Atomics.store(header, 1, Math.min(input.length, room.length))
    Atomics.add(header, 0, 1)
    Atomics.store(header, 2, 1)
  },
  onEnd: () => {
    Atomics.store(header, 2, 0)
  }
})
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(explored)
