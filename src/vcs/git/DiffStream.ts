/** The diff of two commits, as git prints it while it is read. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Effect, Stream } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { gitFailure } from "./GitFailure.ts"
import { startGit } from "./GitProcess.ts"
import type { Mirror } from "./Mirror.ts"

/** Plumbing, with every choice spelled out; the choices are git's defaults, which hosts use for their own diffs. */
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

export const diffStream = (mirror: Mirror, from: string, head: string): Stream.Stream<Uint8Array, CheckoutError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const child = yield* startGit({
        args: ["diff-tree", ...diffOptions, from, head],
        gitDir: mirror.directory,
        home: mirror.directory
      })
      child.stdin.end()
      const verdict = Effect.flatMap(
        Effect.promise(() => child.ended),
        ({ code, stderr }) => (code === 0 ? Effect.void : Effect.fail(gitFailure("diff-tree", stderr, [])))
      )
      return NodeStream.fromReadable<Uint8Array, CheckoutError>({
        evaluate: () => child.stdout,
        onError: (cause) => new CheckoutError({ reason: "failed", message: `git diff-tree: ${String(cause)}` })
      }).pipe(Stream.concat(Stream.fromEffectDrain(verdict)))
    })
  )
