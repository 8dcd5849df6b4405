/** `ScratchRepository` over `git fast-import`: two commits per change, all written by one process. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { localLimits } from "../process/ProcessLimits.ts"
import { ScratchRepository } from "../ScratchRepository.ts"
import type { ScratchChange } from "../ScratchRepository.ts"
import { runGit, startGit } from "./GitProcess.ts"
import { gitFailure } from "./GitFailure.ts"
import { io } from "./Mirror.ts"
import { localTime, withinTime } from "./TimeLimit.ts"

const author = "author Evaluation <evaluation@localhost> 1700000000 +0000"
const committer = "committer Evaluation <evaluation@localhost> 1700000000 +0000"

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
const quoted = (path: string): string => `"${path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`
const files = (contents: ReadonlyMap<string, string>): string =>
  ["deleteall\n", ...[...contents].map(([path, text]) => `M 100644 inline ${quoted(path)}\n${data(text)}`)].join("")

const commits = ({ before, after, message }: ScratchChange, index: number): string => {
  const mark = index * 2 + 1
  return [
    `commit refs/heads/base-${index}\nmark :${mark}\n${author}\n${committer}\n${data("Before")}${files(before)}`,
    `commit refs/heads/head-${index}\nmark :${mark + 1}\n${author}\n${committer}\n${data(message)}from :${mark}\n${files(after)}`
  ].join("\n")
}

const temporary = Effect.acquireRelease(
  io("temporary folder", () => mkdtemp(join(tmpdir(), "aicr-eval-"))),
  (folder) => Effect.ignore(io("temporary folder", () => rm(folder, { recursive: true, force: true })))
)

const make: ScratchRepository["Service"]["make"] = Effect.fn("ScratchRepository.make")(function* (changes) {
  const root = yield* temporary
  const limits = { time: localTime("history"), maxBytes: 4_194_304 }
  yield* runGit({ args: ["init", "--quiet", "--bare", root], home: root, limits: localLimits }, limits)
  yield* Effect.scoped(
    Effect.gen(function* () {
      const git = yield* startGit({ args: ["fast-import", "--quiet"], gitDir: root, home: root, limits: localLimits })
      git.stdout.resume()
      git.stdin.end(changes.map(commits).join("\n"))
      const { code, stderr } = yield* Effect.promise(() => git.ended).pipe(
        withinTime("fast-import", localTime("import"))
      )
      if (code !== 0) return yield* gitFailure("fast-import", stderr, [])
    })
  )
  const listed = yield* runGit(
    {
      args: ["for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads"],
      gitDir: root,
      home: root,
      limits: localLimits
    },
    limits
  )
  const ids = new Map(
    listed.stdout
      .toString("utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .flatMap(([name, id]) => (name === undefined || id === undefined ? [] : [[name, id] as const]))
  )
  return yield* Effect.forEach(changes, (_, index) => {
    const [base, head] = [ids.get(`base-${index}`), ids.get(`head-${index}`)]
    return base === undefined || head === undefined
      ? Effect.fail(new CheckoutError({ reason: "failed", why: { _tag: "ScratchChangeMissing", number: index + 1 } }))
      : Effect.succeed({
          vcs: "git" as const,
          root,
          base,
          head,
          headName: head.slice(0, 10),
          baseName: "before",
          shallow: false,
          notices: []
        })
  })
})

export const layer: Layer.Layer<ScratchRepository> = Layer.succeed(ScratchRepository, ScratchRepository.of({ make }))
