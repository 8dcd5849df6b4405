/** The adapter of Perforce. Nothing is kept between reviews, except for logins and exports of further repositories. */
import { createHash } from "node:crypto"
import { Effect, RcMap } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ServerCheckoutRequest } from "../Checkout.ts"
import { makeSharedExports } from "../server/SharedExports.ts"
import { checkOutSource } from "../server/SourceCheckout.ts"
import type { SourceCheckoutOptions } from "../server/SourceCheckout.ts"
import type { ServerAdapter } from "../server/ServerAdapter.ts"
import type { PerforceServer, VcsServer } from "../server/VcsServer.ts"
import { listPaths, readNewest } from "./P4Describe.ts"
import { exportBranch } from "./P4Export.ts"
import { checkRoot, cleanRoot } from "./P4Path.ts"
import { openSession, listSecrets } from "./P4Session.ts"
import type { P4Session } from "./P4Session.ts"
import { openP4Source } from "./P4Source.ts"
import { describeSubmitted, findEndedShelves, readServerInfo } from "./P4Submitted.ts"

const idleTimeToLive = "10 minutes"
/** Changelists that are described at the same time. */
const describedAtOnce = 4

const ofPerforce = (server: VcsServer): Effect.Effect<PerforceServer, CheckoutError> =>
  server.vcs === "perforce"
    ? Effect.succeed(server)
    : Effect.fail(
        new CheckoutError({ reason: "failed", why: { _tag: "OtherServerKind", vcs: server.vcs, system: "Perforce" } })
      )

/** Secrets are part of the key as a digest: a new password is another session. */
const keyOf = (server: PerforceServer): string => {
  const { client, fingerprint, port, program, user } = server
  const secrets = createHash("sha256")
    .update(JSON.stringify(listSecrets(server)))
    .digest("hex")
  return JSON.stringify([port, user, client, fingerprint, program, secrets])
}

const revisions = /^(?:\d{1,18}|[A-Za-z_][\w.-]{0,250}|\d{4}\/\d{2}\/\d{2}(?::\d{2}:\d{2}:\d{2})?)$/

/** Returns the newest changelist of a path, at most `revision`; undefined if it has none, or the server has no such depot. */
const findNewest = (session: P4Session, branch: string, revision: string | undefined) =>
  Effect.catchIf(
    readNewest(session, `${branch}/...${revision === undefined ? "" : `@${revision}`}`),
    ({ reason }) => reason === "missing",
    () => Effect.succeed(undefined)
  )

export const makePerforce = Effect.fnUntraced(function* (
  options: SourceCheckoutOptions
): Effect.fn.Return<ServerAdapter, never, Scope.Scope> {
  const { limits, replyMillis, root } = options
  const share = yield* makeSharedExports(options)
  /** Servers of the keys that are being looked up. */
  const wanted = new Map<string, PerforceServer>()
  const sessions = yield* RcMap.make({
    idleTimeToLive,
    lookup: (key: string): Effect.Effect<P4Session, CheckoutError, Scope.Scope> => {
      const server = wanted.get(key)
      return server === undefined
        ? Effect.die(new Error("a session without a server"))
        : openSession(root, server, limits, replyMillis)
    }
  })
  const sessionOf = (server: VcsServer) =>
    Effect.flatMap(ofPerforce(server), (own) => {
      const key = keyOf(own)
      wanted.set(key, own)
      return RcMap.get(sessions, key).pipe(
        Effect.onError(() => RcMap.invalidate(sessions, key)),
        Effect.ensuring(Effect.sync(() => wanted.delete(key)))
      )
    })

  return {
    checkout: Effect.fn("Perforce.checkout")(function* (request: ServerCheckoutRequest) {
      const session = yield* sessionOf(request.server)
      return yield* checkOutSource(yield* openP4Source(session, request), options)
    }),
    isAncestor: ({ base, head }) => Effect.succeed(Number.parseInt(base, 10) <= Number.parseInt(head, 10)),
    describe: Effect.fn("Perforce.describe")(function* (request) {
      const session = yield* sessionOf(request.server)
      const described = yield* Effect.forEach(
        request.revisions,
        (revision) =>
          Effect.map(Effect.result(describeSubmitted(session, request, revision)), (one) => [revision, one] as const),
        { concurrency: describedAtOnce }
      )
      return new Map(described)
    }, Effect.scoped),
    list: (request) => Effect.scoped(Effect.flatMap(sessionOf(request.server), listPaths(request))),
    endedShelves: (request) => Effect.scoped(Effect.flatMap(sessionOf(request.server), findEndedShelves(request))),
    mount: Effect.fn("Perforce.mount")(function* ({ maxBytes, path, revision, server }) {
      const branch = cleanRoot(path)
      const wrong = checkRoot(branch)
      if (wrong !== undefined) return yield* wrong
      if (revision !== undefined && !revisions.test(revision)) {
        return yield* new CheckoutError({
          reason: "failed",
          why: { _tag: "InvalidP4Revision", revision }
        })
      }
      const session = yield* sessionOf(server)
      const newest = yield* findNewest(session, branch, revision)
      if (newest === undefined) {
        return yield* new CheckoutError({
          reason: "missing",
          why: { _tag: "NothingSubmitted", path: branch, revision }
        })
      }
      const at = revision ?? newest
      return yield* share({
        key: JSON.stringify([session.server.port, session.server.user, branch, at, newest]),
        revision: newest,
        maxBytes,
        // In a session of its own, because the export may serve later reviews.
        exportTo: (folder) =>
          Effect.scoped(
            Effect.gen(function* () {
              const own = yield* sessionOf(server)
              const { fold } = yield* readServerInfo(own)
              yield* exportBranch(own, branch, at, fold, folder, maxBytes)
            })
          )
      })
    })
  }
})
