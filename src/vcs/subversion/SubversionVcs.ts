/** The adapter of Subversion. Nothing is kept between reviews, except for exports of further repositories. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ServerCheckoutRequest } from "../Checkout.ts"
import { checkOutSource } from "../server/SourceCheckout.ts"
import type { SourceCheckoutOptions } from "../server/SourceCheckout.ts"
import { makeSharedExports } from "../server/SharedExports.ts"
import type { ServerAdapter } from "../server/ServerAdapter.ts"
import type { SubversionServer, VcsServer } from "../server/VcsServer.ts"
import { describeRevisions } from "./SvnDescribe.ts"
import { makeFacts } from "./SvnFacts.ts"
import { readInfo } from "./SvnInfo.ts"
import { readRevisions } from "./SvnLog.ts"
import { makeRecent } from "./SvnRecent.ts"
import { openSession } from "./SvnSession.ts"
import { exportSvn } from "./SvnExport.ts"
import { openSvnSource } from "./SvnSource.ts"
import { joinUrl } from "./SvnUrl.ts"

const wrongServer = (server: VcsServer) =>
  new CheckoutError({ reason: "failed", why: { _tag: "OtherServerKind", vcs: server.vcs, system: "Subversion" } })

const ofSubversion = (server: VcsServer): Effect.Effect<SubversionServer, CheckoutError> =>
  server.vcs === "subversion" ? Effect.succeed(server) : Effect.fail(wrongServer(server))

export const makeSubversion = Effect.fnUntraced(function* (
  options: SourceCheckoutOptions
): Effect.fn.Return<ServerAdapter, never, Scope.Scope> {
  const { limits, root } = options
  const facts = makeFacts()
  const recent = makeRecent()
  const share = yield* makeSharedExports(options)
  const sessionOf = (server: VcsServer) => Effect.flatMap(ofSubversion(server), (own) => openSession(root, own, limits))

  return {
    checkout: Effect.fn("Subversion.checkout")(function* (request: ServerCheckoutRequest) {
      const session = yield* sessionOf(request.server)
      return yield* checkOutSource(yield* openSvnSource(session, request, facts, recent), options)
    }),
    isAncestor: ({ base, head }) => Effect.succeed(Number(base) <= Number(head)),
    describe: Effect.fn("Subversion.describe")(function* ({ revisions, roots, server }) {
      return yield* describeRevisions(yield* sessionOf(server), { readFacts: facts, recent, roots }, revisions)
    }, Effect.scoped),
    list: Effect.fn("Subversion.list")(function* ({ limit, paths, server }) {
      const session = yield* sessionOf(server)
      const [after] = paths.map((one) => one.after)
      const changes = after === undefined ? [] : yield* readRevisions(session, after, limit)
      const [newest] = after === undefined ? yield* readRevisions(session, 0, 1) : changes
      const number = newest?.revision ?? after ?? 0
      return {
        changes,
        newest: new Map(paths.map(({ path }) => [path, number])),
        // The routing of what is listed needs it too, and finds it.
        repository: changes.length === 0 ? undefined : (yield* facts(session, String(number)))?.uuid,
        isCut: changes.length >= limit
      }
    }, Effect.scoped),
    mount: Effect.fn("Subversion.mount")(function* ({ maxBytes, path, revision = "HEAD", server }) {
      const session = yield* sessionOf(server)
      const info = yield* readInfo(session, joinUrl(session.server.url, path), revision, revision)
      if (info === undefined) {
        return yield* new CheckoutError({
          reason: "missing",
          why: { _tag: "NotInRevision", url: session.server.url, revision }
        })
      }
      return yield* share({
        key: JSON.stringify([info.url, info.lastChanged, session.server.username]),
        revision: info.lastChanged,
        maxBytes,
        // In a session of its own, because the export may serve later reviews.
        exportTo: (folder) =>
          Effect.scoped(Effect.flatMap(sessionOf(server), (own) => exportSvn(own, info, folder, maxBytes)))
      })
    })
  }
})
