/** Streams the diff of two commits. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Stream } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import type { GitSetting } from "./GitEnvironment.ts"
import { endError, startGit } from "./GitProcess.ts"
import { inMirror } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { eachWithinTime, localTime } from "./TimeLimit.ts"
import type { TimeLimit } from "./TimeLimit.ts"

/** Files that are too large were excluded before, so git must not treat a file as binary because of its size. */
export const diffSettings: ReadonlyArray<GitSetting> = [["core.bigFileThreshold", "1g"]]

/** Arguments of the plumbing command with all options explicit; they are git's defaults, which hosts use for their own diffs. */
export const diffOptions: ReadonlyArray<string> = [
  "-r",
  "-p",
  "-M50%",
  "-l1000",
  "-U3",
  "--full-index",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--inter-hunk-context=0",
  "--diff-algorithm=myers",
  "--indent-heuristic",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/"
]

interface DiffStreamOptions {
  readonly exactRenames?: boolean
  /** Also compares added files with unchanged ones. */
  readonly copies?: boolean
  /** Additional folder of objects. */
  readonly objects?: string
  readonly time?: TimeLimit
}

export const diffStream = (
  mirror: Mirror,
  from: string,
  head: string,
  { copies = false, exactRenames = false, objects, time = localTime("diff") }: DiffStreamOptions = {}
): Stream.Stream<Uint8Array, CheckoutError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const command = inMirror(mirror, [
        "diff-tree",
        ...diffOptions,
        ...(exactRenames ? ["-M100%"] : []),
        ...(copies ? ["-C", "--find-copies-harder"] : []),
        from,
        head
      ])
      const child = yield* startGit({
        ...command,
        settings: diffSettings,
        ...(objects === undefined ? {} : { objects })
      })
      child.stdin.end()
      const verdict = Effect.flatMap(
        Effect.promise(() => child.ended),
        (end) => (end.code === 0 ? Effect.void : Effect.fail(endError(command, end)))
      )
      return NodeStream.fromReadable<Uint8Array, CheckoutError>({
        evaluate: () => child.stdout,
        onError: (cause) =>
          new CheckoutError({
            reason: "failed",
            why: { _tag: "ProgramFailed", command: "git diff-tree", why: verbatimReason(String(cause)) }
          })
      }).pipe(Stream.concat(Stream.fromEffectDrain(verdict)), eachWithinTime("diff-tree", time))
    })
  )
