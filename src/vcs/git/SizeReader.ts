/** Reads sizes of objects through one `git cat-file --batch-check` for all checkouts of a mirror, without reading the objects. */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { openCatFile } from "./CatFile.ts"
import type { Pending } from "./CatFile.ts"
import type { TimeLimit } from "./TimeLimit.ts"

export interface SizeReader {
  /**
   * Returns the sizes in the order of `names`, which are git object names without a line break; undefined for a missing object.
   */
  readonly sizes: (names: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<number | undefined>, CheckoutError>
}

type Sizes = ReadonlyArray<number | undefined>

interface SizesRequest {
  readonly count: number
  readonly sizes: Array<number | undefined>
}

export const openSizeReader = Effect.fnUntraced(function* (
  mirror: string,
  limits: ProcessLimits,
  time?: TimeLimit
): Effect.fn.Return<SizeReader, never, Scope.Scope> {
  const { send } = yield* openCatFile<SizesRequest, Sizes>({
    mirror,
    limits,
    batch: "--batch-check",
    reader: readSizes,
    ...(time === undefined ? {} : { time })
  })
  return {
    sizes: (names) =>
      names.length === 0 ? Effect.succeed([]) : send(`${names.join("\n")}\n`, { count: names.length, sizes: [] })
  }
})

/** Parses `<id> <type> <size>\n` and `<name> missing\n`. */
const readSizes = (pending: Array<Pending<SizesRequest, Sizes>>): ((chunk: Buffer) => void) => {
  let rest = ""
  return (chunk) => {
    const lines = (rest + chunk.toString("latin1")).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const [request] = pending
      if (request === undefined) return
      const size = / (\d+)$/.exec(line)?.[1]
      request.sizes.push(size === undefined || line.endsWith(" missing") ? undefined : Number(size))
      if (request.sizes.length < request.count) continue
      pending.shift()
      request.reply(request.sizes)
    }
  }
}
