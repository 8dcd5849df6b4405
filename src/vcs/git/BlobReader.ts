/**
 * Objects of one mirror, read through one `git cat-file --batch` that serves every checkout of it. Answers come in the order
 * of the questions. Objects over a question's limit are drained, never held.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { startGit } from "./GitProcess.ts"

export interface GitObject {
  readonly type: string
  readonly size: number
  /** undefined: larger than the limit of the question. */
  readonly content: Buffer | undefined
}

export interface BlobReader {
  /** `object` is any name git knows, such as `<commit>:<path>`, without a line break; undefined when there is none. */
  readonly read: (object: string, maxBytes: number) => Effect.Effect<GitObject | undefined, CheckoutError>
}

interface Question {
  readonly maxBytes: number
  readonly answer: (object: GitObject | undefined) => void
  readonly fail: (error: CheckoutError) => void
}

export const openBlobReader = Effect.fnUntraced(function* (
  mirror: string
): Effect.fn.Return<BlobReader, never, Scope.Scope> {
  const child = yield* startGit({ args: ["cat-file", "--batch"], gitDir: mirror, home: mirror })
  const questions: Array<Question> = []
  let dead: CheckoutError | undefined
  void child.ended.then(({ stderr }) => {
    dead = new CheckoutError({ reason: "failed", message: `git cat-file ended: ${stderr.trim().slice(-300)}` })
    for (const question of questions.splice(0)) question.fail(dead)
  })
  child.stdout.on("data", answers(questions))

  return {
    read: (object, maxBytes) =>
      Effect.callback<GitObject | undefined, CheckoutError>((resume) => {
        if (dead !== undefined) return resume(Effect.fail(dead))
        questions.push({
          maxBytes,
          answer: (found) => resume(Effect.succeed(found)),
          fail: (error) => resume(Effect.fail(error))
        })
        child.stdin.write(`${object}\n`)
      }).pipe(
        Effect.timeoutOrElse({
          duration: 120_000,
          orElse: () => Effect.fail(new CheckoutError({ reason: "failed", message: "git cat-file did not answer" }))
        })
      )
  }
})

/** Reads `<id> <type> <size>\n<content>\n` and `<question> missing\n`, in whatever pieces they arrive. */
const answers = (questions: Array<Question>): ((chunk: Buffer) => void) => {
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
        if (found === null) questions.shift()?.answer(undefined)
        else body = { type: found[1] ?? "", size: Number(found[2]), parts: [], left: Number(found[2]) + 1 }
        continue
      }
      const part = chunk.subarray(at, at + body.left)
      at += part.length
      body.left -= part.length
      const fits = body.size <= (questions[0]?.maxBytes ?? 0)
      if (fits) body.parts.push(part)
      if (body.left > 0) continue
      const content = fits ? Buffer.concat(body.parts).subarray(0, body.size) : undefined
      questions.shift()?.answer({ type: body.type, size: body.size, content })
      body = undefined
    }
  }
}
