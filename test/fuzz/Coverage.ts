/**
 * The blocks of this repository's code that ran in this thread, as V8 counts them. Inputs that reach a block for the first time
 * are kept and mutated further.
 */
import type { Profiler } from "node:inspector"
import { Session } from "node:inspector/promises"

const isOurs = (url: string): boolean => /\/(?:src|nats|actors|test\/fuzz\/planted)\//.test(url)

type FunctionCoverage = Profiler.FunctionCoverage
type Range = Profiler.CoverageRange

export class Coverage {
  readonly #session = new Session()
  readonly #reached = new Set<string>()
  /** Blocks that some run of their function passed by. V8 names a block only then, so reaching one shows in its absence. */
  readonly #passedBy = new Map<string, Map<string, Range>>()

  async start(): Promise<void> {
    this.#session.connect()
    await this.#session.post("Profiler.enable")
    await this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  }

  /** The functions and blocks that ran since the last call and that no accepted input reached. */
  async newBlocks(): Promise<ReadonlyArray<string>> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage")
    return result
      .filter(({ url }) => isOurs(url))
      .flatMap(({ scriptId, functions }) => functions.flatMap((one) => this.#blocksOf(scriptId, one)))
      .filter((block) => !this.#reached.has(block))
  }

  accept(blocks: ReadonlyArray<string>): void {
    for (const block of blocks) this.#reached.add(block)
  }

  stop(): void {
    this.#session.disconnect()
  }

  #blocksOf(scriptId: string, { ranges }: FunctionCoverage): ReadonlyArray<string> {
    const [whole, ...inner] = ranges
    if (whole === undefined || whole.count === 0) return []
    const name = `${scriptId}:${whole.startOffset}`
    const known = this.#passedBy.get(name) ?? new Map()
    this.#passedBy.set(name, known)
    const passedBy = inner.filter(({ count }) => count === 0)
    for (const block of passedBy) known.set(`${name}:${block.startOffset}:${block.endOffset}`, block)
    return [
      name,
      ...[...known].filter(([, block]) => !passedBy.some((other) => contains(other, block))).map(([id]) => id)
    ]
  }
}

const contains = (outer: Range, inner: Range): boolean =>
  outer.startOffset <= inner.startOffset && outer.endOffset >= inner.endOffset
