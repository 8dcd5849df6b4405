/** Lists the owners and repositories of a trigger, and the webhooks that they need: their own, or a wider one that serves them. */
import { Effect } from "effect"
import { routeRepository } from "../../src/admission/Select.ts"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { foldRepo } from "../../src/domain/Change.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { findServing, isHidden, scopeKey, wantHook } from "../../src/forge/EnsureHook.ts"
import type { HookScope, HostOwner } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { InventoryCheck, NeededHook } from "./CheckHooks.ts"
import { listSources } from "./Sources.ts"

/** Repositories of an owner, as they were listed last. */
interface ListedOwner {
  readonly newest: string
  readonly listedAt: number
  /** Full names, without archived repositories. */
  readonly names: ReadonlyArray<string>
  /** The wider webhook that serves them, for these events. */
  readonly serving: HookScope | undefined
  readonly events: string
}

export class OwnersMemory {
  readonly listed = new Map<string, ListedOwner>()
  /** Owners of this configuration, as of this time. */
  sources: { readonly check: InventoryCheck; readonly owners: ReadonlyArray<HostOwner> } | undefined
}

/** Time in milliseconds for which the owners of deliveries are remembered. */
const sourcesMillis = 600_000

/** Returns the owners that the configuration names, or that its workspaces match. */
const listOwners = Effect.fnUntraced(function* (check: InventoryCheck, memory: OwnersMemory) {
  const { now, snapshot, trigger } = check
  const known = memory.sources
  if (known?.check.snapshot === snapshot && Math.abs(now - known.check.now) < sourcesMillis) return known.owners
  const recorded = yield* (yield* Receipts).sources(trigger.name)
  const { owners } = listSources(snapshot, trigger, recorded, new Map())
  const named = trigger.settings.inventory.owners?.map(
    (name) => owners.find((owner) => owner.name.toLowerCase() === name.toLowerCase()) ?? { name, repositories: [] }
  )
  memory.sources = { check, owners: named ?? owners }
  return memory.sources.owners
})

/** Workspaces that review a repository. */
const listWorkspaces = ({ snapshot, trigger }: InventoryCheck, name: string): ReadonlyArray<Workspace> =>
  routeRepository(snapshot, trigger, name).filter(({ enabled }) => enabled)

/** Returns the names of repositories that the host lists, and of those that the configuration names. */
const listNames = Effect.fnUntraced(function* ({ hooks }: InventoryCheck, owner: HostOwner) {
  // The host hides the owner, or has no list of it: only what is named is known.
  const listed = yield* Effect.catchIf(hooks.repositories(owner), isHidden, () => Effect.succeed([]))
  const names = new Map(owner.repositories.map((name) => [foldRepo(name), name]))
  for (const { isArchived, repo } of listed) {
    const key = foldRepo(repo.fullName)
    if (isArchived) names.delete(key)
    else names.set(key, repo.fullName)
  }
  return [...names.values()]
})

/**
 * Lists the repositories of an owner again if it has new ones or the host reported a change, and looks for a wider webhook then, and at the
 * interval of checks.
 */
const listOwner = Effect.fnUntraced(function* (check: InventoryCheck, memory: OwnersMemory, owner: HostOwner) {
  const { changedAt, hooks, intervalMillis, kind, now, requestedAt, snapshot } = check
  const newest = yield* Effect.catchIf(hooks.newest(owner), isHidden, () => Effect.succeed(""))
  const known = memory.listed.get(owner.name)
  const isOld = known === undefined || requestedAt !== undefined || Math.abs(now - known.listedAt) >= intervalMillis
  const isChanged = isOld || known.newest !== newest || changedAt !== undefined
  const names = isChanged ? yield* listNames(check, owner) : known.names
  const routed = names.flatMap((name) => {
    const workspaces = listWorkspaces(check, name)
    return workspaces.length === 0 ? [] : [{ name, workspaces }]
  })
  const wanted = wantHook(
    snapshot,
    kind,
    routed.flatMap(({ workspaces }) => workspaces)
  )
  const events = wanted.events.join(" ")
  const isKnown = !isOld && known.events === events
  const serving =
    routed.length === 0 ? undefined : isKnown ? known.serving : (yield* findServing(hooks, owner.name, wanted))?.scope
  memory.listed.set(owner.name, { newest, names, serving, events, listedAt: isOld ? now : known.listedAt })
  return { routed, serving }
})

/** Returns the webhooks that a trigger needs, by scope, and why the list is incomplete. */
export const listNeeded = Effect.fnUntraced(function* (check: InventoryCheck, memory: OwnersMemory) {
  const needed = new Map<string, NeededHook>()
  let [failure, repositories, served]: [Reason | undefined, number, number] = [undefined, 0, 0]
  const add = (scope: HookScope, workspaces: ReadonlyArray<Workspace>) => {
    const key = scopeKey(scope)
    needed.set(key, { scope, workspaces: [...(needed.get(key)?.workspaces ?? []), ...workspaces] })
  }
  for (const owner of yield* listOwners(check, memory)) {
    const found = yield* Effect.result(listOwner(check, memory, owner))
    if (found._tag === "Failure") {
      failure ??= toWhy(found.failure)
      continue
    }
    const { routed, serving } = found.success
    repositories += routed.length
    if (serving !== undefined) {
      served += routed.length
      add(
        serving,
        routed.flatMap(({ workspaces }) => workspaces)
      )
    } else for (const { name, workspaces } of routed) add({ _tag: "Repository", fullName: name }, workspaces)
  }
  return { needed, failure, repositories, served }
})

const toWhy = ({ why }: ForgeError): Reason => why
