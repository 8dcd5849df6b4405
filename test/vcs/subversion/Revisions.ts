/** Checks out revisions of Subversion in tests, and reads all that a review reads. */
import { Effect, Redacted, Stream } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CheckoutError, Vcs } from "../../../src/vcs/Checkout.ts"
import type { ChangedPath, Checkout, Comparison, ServerCheckoutRequest } from "../../../src/vcs/Checkout.ts"
import type { ContextRepositories } from "../../../src/vcs/ContextRepositories.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import type { DescribeRequest, SubmittedChange } from "../../../src/vcs/SubmittedChanges.ts"
import { layerVcs } from "../../../src/vcs/VcsLayer.ts"
import type { SubversionServer } from "../../../src/vcs/server/VcsServer.ts"
import { svnPassword, svnUser } from "../../harness/Subversion.ts"

export const root = mkdtempSync(join(tmpdir(), "aicr-vcs-"))

export const serverAt = (url: string, over: Partial<SubversionServer> = {}): SubversionServer => ({
  vcs: "subversion",
  url,
  username: svnUser,
  password: Redacted.make(svnPassword),
  tlsCaPath: undefined,
  trustServerCert: false,
  proxy: undefined,
  ...over
})

export const run = <A, E>(effect: Effect.Effect<A, E, Vcs | ContextRepositories | SubmittedChanges>): Promise<A> =>
  Effect.runPromise(effect.pipe(Effect.provide(layerVcs({ root, limits: () => localLimits }))))

export const checkingOut = <A>(
  request: Omit<ServerCheckoutRequest, "vcs">,
  use: (checkout: Checkout) => Effect.Effect<A, CheckoutError>
): Promise<A> =>
  run(
    Effect.scoped(
      Effect.flatMap(Vcs, (vcs) => Effect.flatMap(vcs.checkout({ ...request, vcs: request.server.vcs }), use))
    )
  )

/** Describes one change. */
export const describeChange = ({
  revision,
  ...request
}: Omit<DescribeRequest, "revisions"> & { readonly revision: string }): Effect.Effect<
  SubmittedChange | undefined,
  CheckoutError,
  SubmittedChanges
> =>
  Effect.gen(function* () {
    const described = yield* (yield* SubmittedChanges).describe({ ...request, revisions: [revision] })
    const one = described.get(revision)
    return one === undefined ? undefined : yield* Effect.fromResult(one)
  })

export interface ReadRevision {
  readonly changes: ReadonlyArray<ChangedPath>
  readonly sizes: ReadonlyArray<number>
  readonly diff: string
}

export const readRevision = (checkout: Checkout): Effect.Effect<ReadRevision, CheckoutError> =>
  Effect.gen(function* () {
    const changes = yield* checkout.changes(1000)
    const sizes = yield* checkout.sizes(changes)
    const chunks = yield* Stream.runCollect(checkout.diff(changes, false))
    return { changes, sizes, diff: Buffer.concat([...chunks]).toString("utf8") }
  })

/** Returns the diff of all paths. */
export const readComparison = (comparison: Comparison): Effect.Effect<string, CheckoutError> =>
  Effect.gen(function* () {
    const changes = yield* comparison.changes(1000)
    const chunks = yield* Stream.runCollect(comparison.diff(changes, false))
    return Buffer.concat([...chunks]).toString("utf8")
  })

/** The reason and the message of a checkout that has to fail. */
export const expectFailure = async (checkout: Promise<unknown>): Promise<string> => {
  try {
    await checkout
  } catch (cause) {
    if (cause instanceof CheckoutError) return `${cause.reason}: ${cause.message}`
    throw cause
  }
  throw new Error("it did not fail")
}
