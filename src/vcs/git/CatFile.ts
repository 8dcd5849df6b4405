/**
 * One `git cat-file` child process that serves all checkouts of a mirror: one request per line, replies in the order of the
 * requests.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { endError, startGit } from "./GitProcess.ts"
import type { GitCommand } from "./GitProcess.ts"
import { localTime, withinTime } from "./TimeLimit.ts"
import type { TimeLimit } from "./TimeLimit.ts"

/** State of a pending request and its waiting caller. */
export type Pending<Request, Reply> = Request & { readonly reply: (value: Reply) => void }

export interface CatFile<Request, Reply> {
  /** Sends `lines` unchanged. Fails when the process ends or the reply takes too long. */
  readonly send: (lines: string, request: Request) => Effect.Effect<Reply, CheckoutError>
}

interface CatFileOptions<Request extends object, Reply> {
  readonly mirror: string
  readonly limits: ProcessLimits
  readonly batch: "--batch" | "--batch-check"
  /** Parses git's output, split at any position, and completes requests from the front of the queue. */
  readonly reader: (pending: Array<Pending<Request, Reply>>) => (chunk: Buffer) => void
  readonly time?: TimeLimit
}

export const openCatFile = Effect.fnUntraced(function* <Request extends object, Reply>({
  mirror,
  limits,
  batch,
  reader,
  time = localTime("objects")
}: CatFileOptions<Request, Reply>): Effect.fn.Return<CatFile<Request, Reply>, never, Scope.Scope> {
  const command: GitCommand = { args: ["cat-file", batch], gitDir: mirror, home: mirror, limits }
  const child = yield* startGit(command)
  const pending: Array<Pending<Request, Reply> & { readonly fail: (error: CheckoutError) => void }> = []
  let dead: CheckoutError | undefined
  void child.ended.then((end) => {
    dead = endError(command, end)
    for (const { fail } of pending.splice(0)) fail(dead)
  })
  child.stdout.on("data", reader(pending as Array<Pending<Request, Reply>>))
  return {
    send: (lines, request) =>
      Effect.callback<Reply, CheckoutError>((resume) => {
        if (dead !== undefined) return resume(Effect.fail(dead))
        pending.push({
          ...request,
          reply: (value) => resume(Effect.succeed(value)),
          fail: (error) => resume(Effect.fail(error))
        })
        // Requests of one turn of the event loop are written together.
        child.stdin.cork()
        child.stdin.write(lines)
        process.nextTick(() => child.stdin.uncork())
      }).pipe(withinTime(`cat-file ${batch}`, time))
  }
})
