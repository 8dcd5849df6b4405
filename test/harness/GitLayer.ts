/** Checkouts of git alone, without the other systems of the service. */
import { Context, Effect, Layer } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { CheckoutError, Vcs } from "../../src/vcs/Checkout.ts"
import { ContextRepositories } from "../../src/vcs/ContextRepositories.ts"
import { makeGit } from "../../src/vcs/git/GitVcs.ts"
import type { GitVcsOptions } from "../../src/vcs/git/GitVcs.ts"
import { WorkspaceCache } from "../../src/vcs/cache/WorkspaceCache.ts"

export const layerGit = (options: GitVcsOptions): Layer.Layer<Vcs | ContextRepositories | WorkspaceCache> =>
  Layer.effectContext(
    Effect.map(makeGit(options), ({ checkout, isAncestor: contains, mount, tidy }) =>
      Context.make(Vcs, {
        checkout: (request) => (isGit(request) ? checkout(request) : notGit(request)),
        isAncestor: (request) => (isGit(request) ? contains(request) : notGit(request))
      }).pipe(
        Context.add(ContextRepositories, { mount: (request) => (isGit(request) ? mount(request) : notGit(request)) }),
        Context.add(WorkspaceCache, { tidy })
      )
    )
  )

const isGit = <A extends { readonly vcs?: string | undefined }>(
  request: A
): request is Exclude<A, { readonly vcs: string }> => (request.vcs ?? "git") === "git"

const notGit = ({ vcs }: { readonly vcs?: string | undefined }) =>
  Effect.fail(new CheckoutError({ reason: "failed", why: verbatimReason(`${vcs} repositories are not read here`) }))
