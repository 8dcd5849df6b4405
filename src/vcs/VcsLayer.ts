/** Selects the adapter of each request by its kind. */
import { Context, Effect, Layer } from "effect"
import { Vcs } from "./Checkout.ts"
import { ContextRepositories } from "./ContextRepositories.ts"
import type { ServerAdapter } from "./server/ServerAdapter.ts"
import { SubmittedChanges } from "./SubmittedChanges.ts"
import type { VcsServer } from "./server/VcsServer.ts"
import { vcsTable } from "./server/VcsTable.ts"
import type { VcsOptions } from "./server/VcsTable.ts"
import { WorkspaceCache } from "./cache/WorkspaceCache.ts"

export const layerVcs = (
  options: VcsOptions
): Layer.Layer<Vcs | ContextRepositories | SubmittedChanges | WorkspaceCache> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const git = yield* vcsTable.git(options)
      const servers: Readonly<Record<VcsServer["vcs"], ServerAdapter>> = {
        subversion: yield* vcsTable.subversion(options),
        perforce: yield* vcsTable.perforce(options)
      }
      const of = (vcs: VcsServer["vcs"]): ServerAdapter => servers[vcs]
      return Context.make(Vcs, {
        checkout: (request) => ("server" in request ? of(request.vcs).checkout(request) : git.checkout(request)),
        isAncestor: (request) => ("server" in request ? of(request.vcs).isAncestor(request) : git.isAncestor(request))
      }).pipe(
        Context.add(ContextRepositories, {
          mount: (request) => ("server" in request ? of(request.vcs).mount(request) : git.mount(request))
        }),
        Context.add(SubmittedChanges, {
          describe: (request) => of(request.server.vcs).describe(request),
          list: (request) => of(request.server.vcs).list(request),
          endedShelves: (request) => of(request.server.vcs).endedShelves(request)
        }),
        Context.add(WorkspaceCache, { tidy: git.tidy })
      )
    })
  )
