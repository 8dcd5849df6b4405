/**
 * Order of files of tests: those that share a process run in blocks between those with a process of their own, so that the processor works
 * while the others wait. By default one project follows the other. A block is long, because its processes, one for each worker, end with it, and
 * the next ones load the same modules again, which takes two seconds of a processor.
 */
import { BaseSequencer } from "vitest/node"
import type { TestSpecification } from "vitest/node"

const blockLength = 64

/** Spreads blocks of `shared` evenly between `separate`, and keeps both orders. */
export const mix = <A>(separate: ReadonlyArray<A>, shared: ReadonlyArray<A>): Array<A> => {
  const blocks = Math.ceil(shared.length / blockLength)
  const mixed: Array<A> = []
  let taken = 0
  for (let block = 0; block < blocks; block++) {
    const until = Math.round(((block + 1) * separate.length) / (blocks + 1))
    mixed.push(...separate.slice(taken, until), ...shared.slice(block * blockLength, (block + 1) * blockLength))
    taken = until
  }
  return [...mixed, ...separate.slice(taken)]
}

export class MixedOrder extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of the sequencer
    const sorted = await super.sort(files)
    const isSeparate = ({ project }: TestSpecification) => project.config.isolate
    return mix(
      sorted.filter(isSeparate),
      sorted.filter((file) => !isSeparate(file))
    )
  }
}
