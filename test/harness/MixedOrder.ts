/**
 * Order of files of tests: those that start programs and wait for them are spread evenly between those that compute, so that the processor works while
 * the others wait. A process of tests runs one file after the other, until the next one needs a process of its own; it is not filled with more
 * modules than it has memory for, because the files of the second kind are spread, too. A run of all files leaves out those that wait for their turn
 * (Turns.ts). Bundles the program before files that start it.
 */
import { relative } from "node:path"
import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"
import { bundleProgram } from "./FreshProgram.ts"
import { root } from "./TimeReport.ts"
import { changedFiles, isTurn, leastOfAll } from "./Turns.ts"

/** Spreads lists evenly over each other, and keeps the order of each. */
export const mix = <A>(...lists: ReadonlyArray<ReadonlyArray<A>>): Array<A> =>
  lists
    .flatMap((list) => list.map((item, index) => ({ item, at: (index + 0.5) / list.length })))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item)

/** Files of tests that start programs and wait for them most of the time. */
const waiting = /\/test\/(?:cli|demo|nats|scenarios)\//

export class MixedOrder extends BaseSequencer {
  /** Leaves out the files that wait for their turn, unless files are named. */
  #choose(files: Array<TestSpecification>): Array<TestSpecification> {
    if (files.length < leastOfAll && this.ctx.config.shard === undefined) return files
    const changed = changedFiles()
    const chosen = files
      .map((file) => ({ file, path: relative(root, file.moduleId) }))
      .filter(({ path }) => isTurn(path) || changed.includes(path))
      .map(({ file }) => file)
    if (chosen.length < files.length)
      process.stdout.write(
        `${files.length - chosen.length} files wait for the turn of another commit (AICR_TEST_TURNS=all)\n`
      )
    return chosen
  }

  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of the sequencer
    const sorted = await super.sort(this.#choose(files))
    const isSeparate = ({ project }: TestSpecification) => project.config.isolate
    const isWaiting = (file: TestSpecification) => waiting.test(file.moduleId)
    if (sorted.some((file) => isSeparate(file) || isWaiting(file))) bundleProgram()
    const shared = sorted.filter((file) => !isSeparate(file))
    return mix(
      shared.filter(isWaiting),
      shared.filter((file) => !isWaiting(file)),
      sorted.filter(isSeparate)
    )
  }
}
