/** Diffs of random trees as the service gets them: made by git, through the checkout. */
import { createHash } from "node:crypto"
import { spawn } from "node:child_process"
import { Effect, ManagedRuntime, Stream } from "effect"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { layerGit } from "../harness/GitLayer.ts"
import { localLimits } from "../../src/vcs/process/ProcessLimits.ts"
import { wholeDiff } from "../vcs/WholeDiff.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"
import { joinLines } from "./Trees.ts"
import type { Tree, TreeChange } from "./Trees.ts"

const repository = makeRepository()
const makeRuntime = () =>
  ManagedRuntime.make(layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: true }))
/** Made again after a file of tests closed it: files that share a process share this module. */
let runtime: ReturnType<typeof makeRuntime> | undefined

/** Writes both trees with one `git fast-import`. */
const commitBoth = async ({ before, after }: TreeChange): Promise<{ readonly base: string; readonly head: string }> => {
  const id = createHash("sha256").update(Math.random().toString()).digest("hex").slice(0, 12)
  const parts: Array<Buffer> = []
  const commit = (tree: Tree, mark: number, from: string) => {
    parts.push(
      Buffer.from(
        `commit refs/heads/${id}\nmark :${mark}\ncommitter A <a@b.c> 1700000000 +0000\ndata 1\nx\n${from}deleteall\n`
      )
    )
    for (const [path, file] of tree) {
      const content = Buffer.from(joinLines(file))
      parts.push(
        Buffer.from(`M 100644 inline ${JSON.stringify(path)}\ndata ${content.length}\n`),
        content,
        Buffer.from("\n")
      )
    }
    parts.push(Buffer.from(`get-mark :${mark}\n`))
  }
  commit(before, 1, "")
  commit(after, 2, "from :1\n")
  const child = spawn("git", ["fast-import", "--quiet", "--cat-blob-fd=1"], { cwd: repository.path })
  let out = ""
  let error = ""
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (error += chunk.toString()))
  child.stdin.end(Buffer.concat(parts))
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve))
  const [base, head] = out.trim().split("\n")
  if (code !== 0 || base === undefined || head === undefined) throw new Error(`fast-import: ${error}`)
  return { base, head }
}

export const realDiff = async (change: TreeChange): Promise<string> => {
  const { base, head } = await commitBoth(change)
  return (runtime ??= makeRuntime()).runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const vcs = yield* Vcs
        const checkout = yield* vcs.checkout({
          url: repository.path,
          mirror: "random",
          authorization: undefined,
          head,
          base,
          headRef: undefined,
          baseRef: undefined,
          rules: undefined,
          compare: "endpoints"
        })
        const chunks = yield* Stream.runCollect(wholeDiff(checkout))
        return Buffer.concat(chunks).toString("utf8")
      })
    )
  )
}

export const closeDiffs = async () => {
  const opened = runtime
  runtime = undefined
  await opened?.dispose()
}
