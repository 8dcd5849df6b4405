/** Reads ids and sizes of objects through one `git cat-file --batch-check` for all checkouts of a mirror, without reading the objects. */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { openCatFile } from "./CatFile.ts"
import type { Pending } from "./CatFile.ts"
import type { TimeLimit } from "./TimeLimit.ts"

export interface SizedObject {
  readonly id: string
  readonly type: string
  readonly size: number
}

export interface SizeReader {
  /** Returns the objects in the order of `names`, which are git object names without a line break; undefined for a missing one. */
  readonly objects: (names: ReadonlyArray<string>) => Effect.Effect<Objects, CheckoutError>
}

type Objects = ReadonlyArray<SizedObject | undefined>

interface SizesRequest {
  readonly count: number
  readonly objects: Array<SizedObject | undefined>
}

export const openSizeReader = Effect.fnUntraced(function* (
  mirror: string,
  limits: ProcessLimits,
  time?: TimeLimit
): Effect.fn.Return<SizeReader, never, Scope.Scope> {
  const { send } = yield* openCatFile<SizesRequest, Objects>({
    mirror,
    limits,
    batch: "--batch-check",
    reader: readSizes,
    ...(time === undefined ? {} : { time })
  })
  return {
    objects: (names) =>
      names.length === 0 ? Effect.succeed([]) : send(`${names.join("\n")}\n`, { count: names.length, objects: [] })
  }
})

/** Parses `<id> <type> <size>\n` and `<name> missing\n`. */
const readSizes = (pending: Array<Pending<SizesRequest, Objects>>): ((chunk: Buffer) => void) => {
  let rest = ""
  return (chunk) => {
    const lines = (rest + chunk.toString("latin1")).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const [request] = pending
      if (request === undefined) return
      const [, id, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? []
      request.objects.push(id === undefined || type === undefined ? undefined : { id, type, size: Number(size) })
      if (request.objects.length < request.count) continue
      pending.shift()
      request.reply(request.objects)
    }
  }
}
