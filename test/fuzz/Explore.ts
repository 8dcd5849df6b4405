/**
 * Runs one target for a time: mutates the inputs, keeps those that reach new code, and stops at the first input that violates a
 * property or takes more CPU time than its length allows. Runs in a thread of its own; `onInput` shows each input before it runs,
 * and `onEnd` its end, so that the caller has the input of a run that never ends.
 */
import { Coverage } from "./Coverage.ts"
import { mutator } from "./Mutate.ts"
import { pick, randomFrom } from "./Random.ts"
import type { FuzzTarget } from "./Target.ts"
import { defaultMaxBytes } from "./Target.ts"

export interface Finding {
  readonly input: Uint8Array
  readonly problem: string
}

export interface Explored {
  readonly runs: number
  /** Inputs kept because they reached new code. */
  readonly kept: number
  readonly finding: Finding | undefined
}

export interface ExploreOptions {
  /** CPU time to spend on mutated inputs. */
  readonly millis: number
  /** Maximum number of runs. */
  readonly runs?: number | undefined
  readonly seed: number
  readonly onInput: (input: Uint8Array) => void
  readonly onEnd: () => void
}

type Watcher = Pick<ExploreOptions, "onInput" | "onEnd">

/** CPU time that one run may take, in milliseconds: parsers are linear, and this is several times what they and the checks need on a busy machine. */
const allowedMillis = (length: number): number => 100 + length / 20
const batchSize = 64

const cpuMillis = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const problemOf = (target: FuzzTarget, input: Uint8Array): string | undefined => {
  const startedAt = cpuMillis()
  try {
    target.check(input)
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  const took = cpuMillis() - startedAt
  return took > allowedMillis(input.length)
    ? `took ${took.toFixed(0)} ms of CPU time for ${input.length} bytes, more than ${allowedMillis(input.length).toFixed(0)} ms`
    : undefined
}

/** A slow run counts when all of these are slow: compilation, which lags behind on a busy machine, and collection fall on some run. */
const slowTries = 10

const runOnce = (target: FuzzTarget, input: Uint8Array, { onInput, onEnd }: Watcher): string | undefined => {
  onInput(input)
  let problem = problemOf(target, input)
  for (let tries = 1; tries < slowTries && problem?.startsWith("took ") === true; tries++) {
    problem = problemOf(target, input)
  }
  onEnd()
  return problem
}

export const explore = async (target: FuzzTarget, options: ExploreOptions): Promise<Explored> => {
  const { millis, runs: maxRuns = Number.POSITIVE_INFINITY, seed } = options
  const random = randomFrom(seed)
  const mutate = mutator(random, target.words ?? [], target.maxBytes ?? defaultMaxBytes)
  const inputs = [...target.seeds()]
  const coverage = new Coverage()
  let runs = 0

  // Before anything of the target runs: V8 counts blocks only of functions that it compiles from then on.
  await coverage.start()
  try {
    for (const input of inputs) {
      runs++
      const problem = runOnce(target, input, options)
      if (problem !== undefined) return { runs, kept: 0, finding: { input, problem } }
    }
    const seeds = inputs.length
    // A process of the lowest priority next to other work may get little of a second.
    const endAt = cpuMillis() + millis
    while (cpuMillis() < endAt && runs < maxRuns) {
      const batch = Array.from({ length: batchSize }, () =>
        mutate(pick(random, inputs) ?? new Uint8Array(1), pick(random, inputs) ?? new Uint8Array(1))
      )
      for (const input of batch) {
        runs++
        const problem = runOnce(target, input, options)
        if (problem !== undefined) return { runs, kept: inputs.length - seeds, finding: { input, problem } }
      }
      if ((await coverage.newBlocks()).length > 0) inputs.push(...(await reaching(batch, target, coverage, options)))
    }
    return { runs, kept: inputs.length - seeds, finding: undefined }
  } finally {
    coverage.stop()
  }
}

/** The inputs of a batch that reach code which no input before them reached. Halves the batch: mostly one of it does. */
const reaching = async (
  batch: ReadonlyArray<Uint8Array>,
  target: FuzzTarget,
  coverage: Coverage,
  watcher: Watcher
): Promise<ReadonlyArray<Uint8Array>> => {
  for (const input of batch) runOnce(target, input, watcher)
  const blocks = await coverage.newBlocks()
  if (blocks.length === 0) return []
  if (batch.length === 1) {
    coverage.accept(blocks)
    return batch
  }
  const middle = Math.ceil(batch.length / 2)
  return [
    ...(await reaching(batch.slice(0, middle), target, coverage, watcher)),
    ...(await reaching(batch.slice(middle), target, coverage, watcher))
  ]
}
