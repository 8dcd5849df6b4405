/**
 * Reads objects of one mirror through one `git cat-file --batch` that serves all its checkouts. Objects over the limit of a
 * request are drained, never buffered.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { openCatFile } from "./CatFile.ts"
import type { Pending } from "./CatFile.ts"
import type { TimeLimit } from "./TimeLimit.ts"

export interface GitObject {
  readonly type: string
  readonly size: number
  /** Undefined: larger than the limit of the request. */
  readonly content: Buffer | undefined
}

export interface BlobReader {
  /**
   * Reads an object. `object` is any git object name, such as `<commit>:<path>`, without a line break; undefined if it does not
   * exist.
   */
  readonly read: (object: string, maxBytes: number) => Effect.Effect<GitObject | undefined, CheckoutError>
}

interface ObjectRequest {
  readonly maxBytes: number
}

export const openBlobReader = Effect.fnUntraced(function* (
  mirror: string,
  limits: ProcessLimits,
  time?: TimeLimit
): Effect.fn.Return<BlobReader, never, Scope.Scope> {
  const { send } = yield* openCatFile<ObjectRequest, GitObject | undefined>({
    mirror,
    limits,
    batch: "--batch",
    reader: readObjects,
    ...(time === undefined ? {} : { time })
  })
  return { read: (object, maxBytes) => send(`${object}\n`, { maxBytes }) }
})

/** Parses `<id> <type> <size>\n<content>\n` and `<object> missing\n`, split at any position. */
const readObjects = (pending: Array<Pending<ObjectRequest, GitObject | undefined>>): ((chunk: Buffer) => void) => {
  let header: Array<Buffer> = []
  let body: { readonly type: string; readonly size: number; readonly parts: Array<Buffer>; left: number } | undefined
  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (body === undefined) {
        const end = chunk.indexOf(10, at)
        header.push(chunk.subarray(at, end < 0 ? chunk.length : end))
        if (end < 0) return
        at = end + 1
        const line = Buffer.concat(header).toString("utf8")
        header = []
        const found = /^[0-9a-f]{40,64} (\w+) (\d+)$/.exec(line)
        if (found === null) pending.shift()?.reply(undefined)
        else body = { type: found[1] ?? "", size: Number(found[2]), parts: [], left: Number(found[2]) + 1 }
        continue
      }
      const part = chunk.subarray(at, at + body.left)
      at += part.length
      body.left -= part.length
      const fits = body.size <= (pending[0]?.maxBytes ?? 0)
      if (fits) body.parts.push(part)
      if (body.left > 0) continue
      const content = fits ? Buffer.concat(body.parts).subarray(0, body.size) : undefined
      pending.shift()?.reply({ type: body.type, size: body.size, content })
      body = undefined
    }
  }
}
